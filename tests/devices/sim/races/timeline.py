"""A shadow with its actors, driven by hand."""

from __future__ import annotations

from collections.abc import Sequence

from judge.devices.sim.races.geometry import Access
from judge.devices.sim.races.report import Race
from judge.devices.sim.races.shadow import Shadow
from judge.devices.sim.races.vectors import HOST, Vector, merge, tick
from judge.devices.sim.sites import Site

MAIN, COPY, COMPUTE = 1, 2, 3
NAMES = ("host", "default", "copy", "compute")
HANDLES = {0: MAIN, 0x20: COPY, 0x30: COMPUTE}


def span(low: int, size: int = 64) -> Access:
    """Return an access to every byte of a range."""
    return Access(low, low + size, None, 4, "float32")


class Timeline:
    """Three streams and a host on one shadow; each step stands on a line of its own.

    Args:
        file: where the lines are.
    """

    def __init__(self, file: str = "/home/me/train.py") -> None:
        self.vectors: list[Vector] = [[0] * len(NAMES) for _ in NAMES]
        self.shadow = Shadow(
            NAMES.__getitem__,
            self.vectors[HOST],
            code_of=lambda actor: NAMES[actor] if actor > MAIN else None,
            actor_of=lambda handle: HANDLES[handle],
        )
        self.file = file
        self.line = 0

    def run(
        self, actor: int, reads: Sequence[Access] = (), writes: Sequence[Access] = (), name: str = "add"
    ) -> list[Race]:
        """Run an operation on the next line."""
        self.line += 1
        vector = self.vectors[actor]
        merge(vector, self.vectors[HOST])
        tick(vector, actor)
        return list(self.shadow.access(actor, vector, reads, writes, name, self.site))

    @property
    def site(self) -> Site:
        """The present line."""
        return Site(self.file, self.line, "step")

    def wait(self, actor: int, other: int) -> None:
        """Order an actor after all that another has done; the host forgets what it then knows."""
        merge(self.vectors[actor], self.vectors[other])
        if actor == HOST:
            self.shadow.settle()
