"""Figures of a timeline: busy, idle and overlapping time from the spans of the device's work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judge.instruments.observation import DeviceSpan, StreamTime, Sync, Timeline
from judge.instruments.steps import find_step

Interval = tuple[float, float]


def measure_timeline(
    spans: Sequence[DeviceSpan], syncs: Sequence[Sync], *, started_us: float, stopped_us: float, launches: int
) -> Timeline:
    """Return the figures of the time between two moments of the host's clock.

    Args:
        spans: work of the device, in the order in which it was launched.
        syncs: host waits.
        started_us: host time of the start.
        stopped_us: host time of the stop; device work may end later.
        launches: by the host, those of dropped spans included.
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
        step=find_step([span.site for span in spans]),
    )


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the union of intervals as disjoint ones, by their start."""
    merged: list[Interval] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        elif high > low:
            merged.append((low, high))
    return merged


def total(intervals: Iterable[Interval]) -> float:
    """Return the length of disjoint intervals together."""
    return sum(high - low for low, high in intervals)


def sweep(rows: Iterable[Iterable[Interval]]) -> tuple[float, float]:
    """Return how long at least one row is busy, and how long at least two are.

    Args:
        rows: disjoint intervals of each row.
    """
    edges = sorted(edge for row in rows for low, high in row for edge in ((low, 1), (high, -1)))
    busy_us = overlap_us = last_us = 0.0
    depth = 0
    for at_us, change in edges:
        busy_us += (at_us - last_us) * (depth >= 1)
        overlap_us += (at_us - last_us) * (depth >= 2)
        depth += change
        last_us = at_us
    return busy_us, overlap_us
