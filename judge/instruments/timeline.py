"""Figures of a timeline: busy, idle and overlapping time from the spans of the device's work."""

from __future__ import annotations

from collections.abc import Sequence

from judge.instruments.intervals import Interval, merge, sweep, total
from judge.instruments.launches import gather_launches
from judge.instruments.observation import DeviceSpan, StreamTime, Sync, Timeline
from judge.instruments.steps import find_step


def measure_timeline(
    spans: Sequence[DeviceSpan],
    syncs: Sequence[Sync],
    *,
    started_us: float,
    stopped_us: float,
    launches: int,
    dropped_spans: int = 0,
) -> Timeline:
    """Return the figures of the time between two moments of the host's clock.

    Args:
        spans: work of the device, in the order in which it was launched.
        syncs: host waits.
        started_us: host time of the start.
        stopped_us: host time of the stop; device work may end later.
        launches: by the host, those of dropped spans included.
        dropped_spans: work that is known by its number only; it is taken for kernels.
    """
    end_us = max([stopped_us, *(span.ended_us for span in spans)])
    makespan_us = max(end_us - started_us, 0.0)
    by_stream: dict[str, list[Interval]] = {}
    for span in spans:
        by_stream.setdefault(span.stream, []).append((max(span.started_us, started_us), span.ended_us))
    merged = {name: merge(intervals) for name, intervals in by_stream.items()}
    busy_us, overlap_us = sweep(merged.values())
    waited_us = sum(sync.waited_us for sync in syncs)
    return Timeline(
        makespan_us=makespan_us,
        host_us=max(stopped_us - started_us - waited_us, 0.0),
        streams=tuple(StreamTime(name, total(intervals)) for name, intervals in merged.items()),
        device_idle_us=max(makespan_us - busy_us, 0.0),
        overlap_us=overlap_us,
        launches=launches,
        kernels=dropped_spans + sum(span.engine == "sm" for span in spans),
        copies=sum(span.engine != "sm" for span in spans),
        step=find_step(gather_launches(spans), syncs),
    )
