"""What the simulated device says it does not do."""

from __future__ import annotations


class NotSimulated(RuntimeError):
    """User code asked for something that only a real GPU can do.

    Args:
        what: the operation or feature, as the user wrote it: ``"torch.cuda.comm.broadcast"``.
        why: the reason, a clause without a final stop.
    """

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} needs a real GPU: {why}")
        self.what = what
        self.why = why
