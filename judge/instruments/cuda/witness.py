"""Bring together what sync debug mode said, what the user's calls were, and what the profiler saw: the host's waits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from judge.devices.sim.sites import UNKNOWN, Site
from judge.instruments.cuda.calls import Call, CallLog
from judge.instruments.cuda.trace import RuntimeCall, Trace, Work
from judge.instruments.observation import Sync

COPIES = ("copy_", "_to_copy", "_copy_from")
EXPLICIT_KINDS = {
    "torch.cuda.synchronize": "device_synchronize",
    "torch.accelerator.synchronize": "device_synchronize",
    "torch.cuda.Stream.synchronize": "stream_synchronize",
    "torch.Stream.synchronize": "stream_synchronize",
    "torch.cuda.Event.synchronize": "event_synchronize",
    "torch.Event.synchronize": "event_synchronize",
    "torch.cuda.empty_cache": "allocator_flush",
}
"""What the user can write to wait, and the kind of wait that it is."""
RUNTIME_KINDS = {
    "cudaStreamSynchronize": "stream_synchronize",
    "cudaEventSynchronize": "event_synchronize",
    "cudaDeviceSynchronize": "device_synchronize",
}

PREFERRED = {
    runtime: tuple(written for written, waits in EXPLICIT_KINDS.items() if waits == kind)
    for runtime, kind in RUNTIME_KINDS.items()
    if kind != "stream_synchronize"
}
"""The runtime's calls that hardly anything makes but what the user wrote; operators wait for streams all the time."""

Naming = Callable[[str], tuple[str, str] | None]
"""From an operator's name to the wait's kind and what the user wrote; ``None`` for one that is not known to wait."""


def find_syncs(log: CallLog, trace: Trace, *, to_ns: Callable[[float], int], name_op: Naming) -> list[Sync]:
    """Return the waits of the host, in order.

    A call in which the profiler saw the host wait is one wait, or as many as sync debug mode told of. A call that
    only debug mode told of counts too: the profiler may have lost the event. Where the recording is lost, what the
    user wrote in order to wait counts as well. A wait outside all calls is kept without a line.

    Args:
        log: calls of the program.
        trace: what the profiler recorded.
        to_ns: from the profiler's time to the log's.
        name_op: names the waits of operators.
    """
    log.index()
    works = {work.correlation: work for work in trace.works}
    waits: dict[int, tuple[Call, list[RuntimeCall]]] = {}
    unplaced: list[Sync] = []
    for runtime in trace.find_waits():
        call = log.find(to_ns(runtime.started_us), PREFERRED.get(runtime.name, ()))
        if call is None:
            unplaced.append(_describe_unplaced(runtime, works.get(runtime.correlation), to_ns))
        else:
            waits.setdefault(id(call), (call, []))[1].append(runtime)
    _place_late_warnings(log, [call for call, _ in waits.values()])
    for call in log.calls:
        if (call.warnings or (call.is_explicit and trace.is_lost)) and id(call) not in waits:
            waits[id(call)] = (call, [])
    placed = [sync for call, seen in waits.values() for sync in _describe(call, seen, trace, works, name_op)]
    return sorted(placed + unplaced, key=lambda sync: sync.started_us)


def _place_late_warnings(log: CallLog, witnessed: list[Call]) -> None:
    """Put each late warning down to the last call of its line that was seen to wait, else to the last of its line."""
    if not log.late_warnings:
        return
    indexes = [_index_by_site(calls) for calls in (witnessed, log.calls)]
    for at_ns, site in log.late_warnings:
        for index in indexes:
            calls = index.get(site, [])
            last = bisect_right(calls, at_ns, key=lambda call: call.started_ns) - 1
            if last >= 0:
                calls[last].warnings += 1
                break


def _index_by_site(calls: list[Call]) -> dict[Site, list[Call]]:
    """Return the calls of each line, in the order of their starts."""
    index: dict[Site, list[Call]] = {}
    for call in sorted(calls, key=lambda call: call.started_ns):
        index.setdefault(call.site, []).append(call)
    return index


def _describe(call: Call, seen: list[RuntimeCall], trace: Trace, works: dict[int, Work], name_op: Naming) -> list[Sync]:
    count = max(call.warnings, 1)
    waited_us = sum(runtime.duration_us for runtime in seen) / count
    kind, written = _name(call, seen, works, name_op)
    stream = next((works[one.correlation].stream for one in seen if one.correlation in works), "")
    if not stream and kind not in ("device_synchronize", "allocator_flush"):
        stream = _find_only_stream(trace)
    sync = Sync(kind, written, call.site, stream, call.started_ns / 1e3, waited_us, call.warnings > 0)
    return [sync] * count


def _name(call: Call, seen: list[RuntimeCall], works: dict[int, Work], name_op: Naming) -> tuple[str, str]:
    if call.is_explicit:
        return EXPLICIT_KINDS.get(call.name, "stream_synchronize"), call.name
    known = name_op(call.name)
    if known is not None:
        return known
    engines = {works[one.correlation].engine for one in seen if one.correlation in works}
    if call.name in COPIES or engines:
        direction = "h2d" if "h2d" in engines else "d2h"
        return f"copy_{direction}", "Tensor.copy_" if call.name == "copy_" else "Tensor.to"
    return "stream_synchronize", f"torch.{call.name}"


def _find_only_stream(trace: Trace) -> str:
    """Return the only stream that was ever used; of several, none can be told."""
    names = {work.stream for work in trace.works}
    return names.pop() if len(names) == 1 else ""


def _describe_unplaced(runtime: RuntimeCall, work: Work | None, to_ns: Callable[[float], int]) -> Sync:
    kind = RUNTIME_KINDS.get(runtime.name, "copy_d2h" if work is None else f"copy_{work.engine}")
    stream = work.stream if work is not None else ""
    started_us = to_ns(runtime.started_us) / 1e3
    return Sync(kind, runtime.name, UNKNOWN, stream, started_us, runtime.duration_us, is_seen_by_debug_mode=False)
