"""Events: marks in a stream's queue that others can wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from judge.devices.sim.clock import Task
    from judge.devices.sim.streams import Capture, Stream

_FIRST_HANDLE = 0x5557_0000_0010
_HANDLE_STEP = 0x80


class Moment(NamedTuple):
    """What one recording of an event covers. It never changes; recording again makes another."""

    issue_us: float
    """Host time of the call."""
    tasks: list[Task]
    """The work that must have ended."""
    vector: list[int]
    """Vector clock of the stream at the recording."""
    stream: Stream
    capture: Capture | None = None
    """The capture that it was recorded in."""
    node: object = None
    """The capture's own note of the place."""


class Event:
    """One event of the device.

    Args:
        is_timing: ``elapsed_time`` may be asked of it.
        is_blocking: waiting for it puts the host to sleep instead of spinning; virtual time sees no difference.
        is_external: inside a capture, recording and waiting are nodes of the graph.
        is_interprocess: it may be shared with other processes, which the simulation never does.

    Source: c10/cuda/CUDAEvent.h, torch 2.13.
    """

    __slots__ = ("handle", "is_blocking", "is_external", "is_interprocess", "is_timing", "recorded")

    _count = 0

    def __init__(
        self,
        *,
        is_timing: bool = False,
        is_blocking: bool = False,
        is_external: bool = False,
        is_interprocess: bool = False,
    ) -> None:
        self.is_timing = is_timing
        self.is_blocking = is_blocking
        self.is_external = is_external
        self.is_interprocess = is_interprocess
        self.recorded: Moment | None = None
        """The last recording; ``None`` before the first."""
        self.handle = 0
        """The ``cudaEvent_t`` as a number; 0 until the first recording creates it."""

    def create(self) -> None:
        """Give the event its handle, as the first recording does."""
        if not self.handle:
            Event._count += 1
            self.handle = _FIRST_HANDLE + _HANDLE_STEP * Event._count
