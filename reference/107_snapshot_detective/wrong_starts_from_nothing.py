"""The trace is taken for the whole story: what was allocated before it does not count.

Caught by: test_2_peak.py::test_a_block_without_any_event_was_there_before
Caught by: test_2_peak.py::test_random_stories_are_solved[cut]
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
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
    own = [it for it in frames if "site-packages" not in it["filename"].split("/") and it["filename"][:1] != "<"]
    for frame in own or frames:
        return f"{frame['filename']}:{frame['line']}"
    return UNKNOWN


def find_peak(snapshot: Snapshot, device: int = 0) -> Peak:
    """Return when most bytes were allocated, and by whom.

    Args:
        snapshot: as the statement describes it; it is not changed.
        device: index of the device.
    """
    trace = snapshot["device_traces"][device]
    start: dict[int, tuple[int, str]] = {}
    size = peak = sum(size for size, _ in start.values())
    at = -1
    for index, event in enumerate(trace):
        size += {"alloc": 1, "free_requested": -1}.get(event["action"], 0) * event["size"]
        if size > peak:
            peak, at = size, index
    # Only now is it known which moment matters: play up to there once more, with the owners.
    live = start
    for event in trace[: at + 1]:
        if event["action"] == "alloc":
            live[event["addr"]] = event["size"], find_site(event["frames"])
        elif event["action"] == "free_requested":
            live.pop(event["addr"], None)
    return Peak(peak, at, _sum_by_site(live.values()))


def find_leaks(snapshot: Snapshot, step_starts: list[int], device: int = 0) -> list[Leak]:
    """Return the sites whose blocks pile up from step to step, most bytes first, of equals by site.

    Args:
        snapshot: as the statement describes it; it is not changed.
        step_starts: when each step began, in microseconds as ``time_us``, ascending.
        device: index of the device.
    """
    survivors: dict[int, dict[str, Any]] = {}
    for event in snapshot["device_traces"][device]:
        if event["action"] == "alloc":
            survivors[event["addr"]] = event
        elif event["action"] == "free_requested":
            survivors.pop(event["addr"], None)
    last = len(step_starts) - 1
    found: dict[str, list[tuple[int, int]]] = {}
    for event in survivors.values():
        step = bisect_right(step_starts, event["time_us"]) - 1
        if 0 <= step < last:
            found.setdefault(find_site(event["frames"]), []).append((step, event["size"]))
    leaks = [
        Leak(site, sum(size for _, size in blocks), tuple(sorted({step for step, _ in blocks})))
        for site, blocks in found.items()
    ]
    return sorted((leak for leak in leaks if len(leak.steps) > 1), key=lambda leak: (-leak.size_bytes, leak.site))


def find_largest_request(snapshot: Snapshot, stream: int = 0, device: int = 0) -> int:
    """Return the bytes of the largest request that needs no new segment; 0 if there is none.

    Args:
        snapshot: as the statement describes it; it is not changed.
        stream: the stream that asks, outside of any graph or memory pool.
        device: index of the device.
    """
    largest = 0
    for segment in _find_segments(snapshot, device):
        if segment["stream"] != stream or segment["segment_pool_id"] != (0, 0):
            continue
        for block in segment["blocks"]:
            if block["state"] != "inactive":
                continue
            if segment["segment_type"] == "small":
                largest = max(largest, min(block["size"], SMALL_REQUEST))
            elif block["size"] > SMALL_REQUEST:
                largest = max(largest, block["size"])
    return largest


def inspect_segments(snapshot: Snapshot, device: int = 0) -> list[SegmentReport]:
    """Return a report of every segment: where most free bytes are stranded first, of equals by address.

    Args:
        snapshot: as the statement describes it; it is not changed.
        device: index of the device.
    """
    reports = []
    for segment in _find_segments(snapshot, device):
        free = [block["size"] for block in segment["blocks"] if block["state"] == "inactive"]
        held = [block for block in segment["blocks"] if block["state"] != "inactive"]
        holders = _sum_by_site((block["size"], find_site(block["frames"])) for block in held)
        reports.append(
            SegmentReport(segment["address"], segment["total_size"], sum(free), max(free, default=0), holders)
        )
    # What nothing holds is not stranded: empty_cache() gives it back.
    return sorted(reports, key=lambda it: (-it.free_bytes if it.holders else 0, it.address))


def _find_segments(snapshot: Snapshot, device: int) -> list[dict[str, Any]]:
    return [segment for segment in snapshot["segments"] if segment["device"] == device]


def _find_start(snapshot: Snapshot, device: int) -> dict[int, tuple[int, str]]:
    """Return what was allocated before the trace begins, by address: requested bytes and site.

    An address whose first event is a free had an owner before. So has a block that is allocated now, and of which
    the trace says nothing.
    """
    seen: set[int] = set()
    start: dict[int, tuple[int, str]] = {}
    for event in snapshot["device_traces"][device]:
        if event["action"] in ("alloc", "free_requested") and event["addr"] not in seen:
            seen.add(event["addr"])
            if event["action"] == "free_requested":
                start[event["addr"]] = event["size"], BEFORE
    for segment in _find_segments(snapshot, device):
        for block in segment["blocks"]:
            if block["state"] == "active_allocated" and block["address"] not in seen:
                start[block["address"]] = block["requested_size"], find_site(block["frames"])
    return start


def _sum_by_site(blocks: Iterable[tuple[int, str]]) -> tuple[tuple[str, int], ...]:
    """Return the bytes of each site, most first, of equals by site."""
    sums: dict[str, int] = {}
    for size, site in blocks:
        sums[site] = sums.get(site, 0) + size
    return tuple(sorted(sums.items(), key=lambda it: (-it[1], it[0])))
