"""Problem 107: snapshot detective. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MIB = 1 << 20
SMALL_REQUEST = MIB
"""Bytes of the largest request that the small pool serves."""

UNKNOWN = "(unknown)"
BEFORE = "(before the trace)"

Snapshot = dict[str, Any]
"""What ``torch.cuda.memory._snapshot()`` returns: dicts, lists, strings and numbers."""


@dataclass(frozen=True)
class Peak:
    """The moment at which most bytes were allocated. Given: leave it as it is.

    Args:
        size_bytes: requested bytes that were allocated then.
        event: index in the trace of the event after which it was so; -1: before the first.
        owners: ``(site, bytes)``, most bytes first, of equals by site.
    """

    size_bytes: int
    event: int
    owners: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Leak:
    """A place in the code that leaves something behind in one step after the other. Given: leave it as it is.

    Args:
        site: where it was allocated.
        size_bytes: requested bytes of the blocks that count.
        steps: the steps that they come from, ascending.
    """

    site: str
    size_bytes: int
    steps: tuple[int, ...]


@dataclass(frozen=True)
class SegmentReport:
    """One segment. Given: leave it as it is.

    Args:
        address: where it begins.
        size_bytes: all of it.
        free_bytes: its free blocks.
        largest_bytes: the largest of them, 0 if there is none.
        holders: ``(site, bytes)`` of the blocks that hold it, most bytes first, of equals by site.
    """

    address: int
    size_bytes: int
    free_bytes: int
    largest_bytes: int
    holders: tuple[tuple[str, int], ...]

    @property
    def fragmentation(self) -> float:
        """The share of the free bytes that the largest free block is not: 0 is one piece."""
        return 1 - self.largest_bytes / self.free_bytes if self.free_bytes else 0.0


def find_site(frames: list[dict[str, Any]]) -> str:
    """Return ``"file:line"`` of the frame that a reader of the program wants to see.

    Args:
        frames: ``{"filename": …, "line": …, "name": …}``, innermost first; may be empty.
    """
    # TODO
    raise NotImplementedError


def find_peak(snapshot: Snapshot, device: int = 0) -> Peak:
    """Return when most bytes were allocated, and by whom.

    Args:
        snapshot: as the statement describes it; it is not changed.
        device: index of the device.
    """
    # TODO
    raise NotImplementedError


def find_leaks(snapshot: Snapshot, step_starts: list[int], device: int = 0) -> list[Leak]:
    """Return the sites whose blocks pile up from step to step, most bytes first, of equals by site.

    Args:
        snapshot: as the statement describes it; it is not changed.
        step_starts: when each step began, in microseconds as ``time_us``, ascending.
        device: index of the device.
    """
    # TODO
    raise NotImplementedError


def find_largest_request(snapshot: Snapshot, stream: int = 0, device: int = 0) -> int:
    """Return the bytes of the largest request that needs no new segment; 0 if there is none.

    Args:
        snapshot: as the statement describes it; it is not changed.
        stream: the stream that asks, outside of any graph or memory pool.
        device: index of the device.
    """
    # TODO
    raise NotImplementedError


def inspect_segments(snapshot: Snapshot, device: int = 0) -> list[SegmentReport]:
    """Return a report of every segment: where most free bytes are stranded first, of equals by address.

    Args:
        snapshot: as the statement describes it; it is not changed.
        device: index of the device.
    """
    # TODO
    raise NotImplementedError
