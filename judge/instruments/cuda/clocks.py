"""One clock set against another by moments that both have seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

SHORTEST_FIT_US = 1e6
"""Over less time, the jitter of a mark says more than what the clocks drift apart."""


@dataclass(frozen=True)
class Line:
    """A straight line from one clock's time to another's, in microseconds."""

    slope: float
    offset_us: float

    def map(self, at_us: float) -> float:
        """Return the other clock's time."""
        return self.slope * at_us + self.offset_us

    def invert(self, other_us: float) -> float:
        """Return the time at which the other clock shows so much."""
        return (other_us - self.offset_us) / self.slope


@dataclass(frozen=True)
class Mark:
    """One moment on both clocks, in microseconds."""

    seen_us: float
    ours_us: float


def fit_clock(first: Sequence[Mark], last: Sequence[Mark]) -> Line:
    """Return the line from a recording's clock to ours.

    Args:
        first: marks at the beginning of the recording; at least one.
        last: marks at its end; at least one.
    """
    begin, end = _middle(first), _middle(last)
    slope = 1.0
    if end.seen_us - begin.seen_us >= SHORTEST_FIT_US:
        slope = (end.ours_us - begin.ours_us) / (end.seen_us - begin.seen_us)
    return Line(slope, begin.ours_us - slope * begin.seen_us)


def _middle(marks: Sequence[Mark]) -> Mark:
    """Return one moment for several: a single late mark does not count."""
    seen_us = marks[0].seen_us
    return Mark(seen_us, seen_us + median(mark.ours_us - mark.seen_us for mark in marks))
