"""Each pair of a copy and a kernel is added: what two kernels hide is counted twice.

Caught by: test_4_overlap.py::test_two_kernels_at_once_hide_once
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")
WAITING = (
    "cudaStreamSynchronize",
    "cudaEventSynchronize",
    "cudaDeviceSynchronize",
    "cudaMemcpy",
)
STAGED_BYTES = 64 * 1024
"""A pageable copy to the device of at most so much goes through a buffer of the driver, and holds nobody."""

Trace = Mapping[str, Any]
Place = tuple[int, int]
"""Process and thread of a call; device and stream of a work."""


@dataclass(frozen=True)
class Gap:
    """A time in which the device had nothing to do."""

    start_ns: int
    end_ns: int
    cause: str


@dataclass(frozen=True)
class Wait:
    """A call in which the host waited for the device."""

    call: str
    start_ns: int
    waited_ns: int


@dataclass(frozen=True)
class Launch:
    """A call that gave the device work."""

    call: str
    start_ns: int
    works: int
    delay_ns: int


@dataclass(frozen=True)
class _Span:
    """An event with a length, of the device or of the host."""

    name: str
    category: str
    start_ns: int
    end_ns: int
    correlation: int
    place: Place
    size_bytes: int


def measure_busy(trace: Trace, device: int = 0) -> int:
    """Return the nanoseconds in which at least one stream of the device had work."""
    return _cover(_list_works(trace, device))


def find_gaps(trace: Trace, device: int = 0) -> list[Gap]:
    """Return the idle gaps between the device's first and last work, with their causes, in order."""
    works = _list_works(trace, device)
    calls = {call.correlation: call for call in _list_calls(trace)}
    waits = defaultdict(list)
    for wait in _list_waits(trace):
        waits[wait.place].append(wait)
    latest_ends = accumulate((work.end_ns for work in works), max)
    return [
        Gap(dry_ns, work.start_ns, _explain(dry_ns, calls.get(work.correlation), waits))
        for dry_ns, work in zip(latest_ends, works[1:], strict=False)
        if work.start_ns > dry_ns
    ]


def find_waits(trace: Trace) -> list[Wait]:
    """Return the calls in which the host waited for the device, in order."""
    return [Wait(call.name, call.start_ns, call.end_ns - call.start_ns) for call in _list_waits(trace)]


def measure_overlap(trace: Trace, device: int = 0) -> tuple[int, int]:
    """Return the nanoseconds in which the device copied, and how many of them a kernel ran beside."""
    works = _list_works(trace, device)
    copies = [work for work in works if work.category == "gpu_memcpy"]
    kernels = [work for work in works if work.category == "kernel"]
    pairs = [(copy, kernel) for copy in copies for kernel in kernels]
    hidden_ns = sum(max(0, min(a.end_ns, b.end_ns) - max(a.start_ns, b.start_ns)) for a, b in pairs)
    return _cover(copies), hidden_ns


def find_launches(trace: Trace) -> list[Launch]:
    """Return the calls that gave a device work, in order."""
    started = defaultdict(list)
    for work in _list_works(trace):
        started[work.correlation].append(work.start_ns)
    return [
        Launch(call.name, call.start_ns, len(starts), starts[0] - call.start_ns)
        for call in _list_calls(trace)
        if (starts := started.get(call.correlation))
    ]


def _explain(dry_ns: int, call: _Span | None, waits: Mapping[Place, list[_Span]]) -> str:
    """Return why a device that ran dry had to wait for the work of a call.

    Args:
        dry_ns: when the device ran dry.
        call: what the host called for the work that came next, if the trace knows.
        waits: where each thread of the host waited, in order.
    """
    if call is None:
        return "unknown"
    if call.end_ns <= dry_ns:
        return "queued"
    # The calls of a thread follow one another: only the last one that had begun can still be going on.
    begun = bisect_right(waits[call.place], dry_ns, key=lambda wait: wait.start_ns)
    is_held = begun > 0 and waits[call.place][begun - 1].end_ns > dry_ns
    return "sync" if is_held else "launch"


def _list_works(trace: Trace, device: int | None = None) -> list[_Span]:
    """Return the works of a device, or of all, in the order of their starts."""
    works = _list_spans(trace, WORK)
    return [work for work in works if device is None or work.place[0] == device]


def _list_calls(trace: Trace) -> list[_Span]:
    return _list_spans(trace, CALLS)


def _list_waits(trace: Trace) -> list[_Span]:
    copies = {work.correlation: work for work in _list_works(trace) if work.category == "gpu_memcpy"}
    return [call for call in _list_calls(trace) if _is_waiting(call, copies.get(call.correlation))]


def _is_waiting(call: _Span, copy: _Span | None) -> bool:
    """Return whether the host waited in a call, whose copy may tell."""
    if call.name in WAITING:
        return True
    if call.name != "cudaMemcpyAsync" or copy is None or "Pageable" not in copy.name:
        return False
    return "DtoH" in copy.name or copy.size_bytes > STAGED_BYTES


def _list_spans(trace: Trace, categories: tuple[str, ...]) -> list[_Span]:
    """Return the events of some categories in the order of their starts."""
    events = [one for one in trace["traceEvents"] if one.get("ph") == "X" and one.get("cat") in categories]
    return sorted((_read(event) for event in events), key=lambda span: (span.start_ns, span.correlation))


def _read(event: Mapping[str, Any]) -> _Span:
    arguments = event["args"]
    is_work = event["cat"] in WORK
    # Whole nanoseconds from here on: sums of microseconds with three decimals are not exact.
    start_ns = round(event["ts"] * 1000)
    return _Span(
        name=event["name"],
        category=event["cat"],
        start_ns=start_ns,
        end_ns=start_ns + round(event.get("dur", 0) * 1000),
        correlation=arguments["correlation"],
        place=(arguments["device"], arguments["stream"]) if is_work else (event["pid"], event["tid"]),
        size_bytes=arguments.get("bytes", 0),
    )


def _cover(spans: Iterable[_Span]) -> int:
    """Return the nanoseconds in which at least one span runs; they come in the order of their starts."""
    covered_ns = end_ns = 0
    for span in spans:
        covered_ns += max(0, span.end_ns - max(span.start_ns, end_ns))
        end_ns = max(end_ns, span.end_ns)
    return covered_ns
