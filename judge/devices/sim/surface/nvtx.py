"""Ranges and marks of ``torch.cuda.nvtx``: accepted, and shown to nobody."""

from __future__ import annotations

import itertools

UNTRACKED = -2
"""What NVTX returns for a depth while no tool listens (``NVTX_NO_PUSH_POP_TRACKING``)."""


class Nvtx:
    """Stands for ``torch._C._nvtx``."""

    def __init__(self) -> None:
        self._handles = itertools.count(1)

    def rangePushA(self, message: str) -> int:  # noqa: ARG002  # NVTX's name
        """Open a range."""
        return UNTRACKED

    def rangePop(self) -> int:
        """Close the innermost range."""
        return UNTRACKED

    def rangeStartA(self, message: str) -> int:  # noqa: ARG002  # NVTX's name
        """Start a range that may end in another thread, and return its handle."""
        return next(self._handles)

    def rangeEnd(self, handle: int) -> None:  # NVTX's name
        """End such a range."""

    def markA(self, message: str) -> None:  # NVTX's name
        """Mark a point in time."""

    def deviceRangeStart(self, message: str, stream: int) -> object:  # noqa: ARG002  # PyTorch's name
        """Start a range in a stream's time, and return its handle."""
        return object()

    def deviceRangeEnd(self, handle: object, stream: int) -> None:  # NVTX's name
        """End such a range."""
