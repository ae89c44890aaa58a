"""Intervals of time: their union, their length, and how many run at once."""

from __future__ import annotations

from collections.abc import Iterable

Interval = tuple[float, float]


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
