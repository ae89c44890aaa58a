"""One clock set against another by moments that both have seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

LARGEST_DRIFT = 1e-3
"""Two clocks of one machine part by some millionths; anything else is a mismatch of the marks."""


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


def fit_clock(seen: Sequence[float], first: Sequence[float], last: Sequence[float]) -> Line:
    """Return the line from a recording's clock to ours.

    Args:
        seen: moments of the recording, in order, the marks among them.
        first: marks of the beginning, on our clock.
        last: marks of the end, on our clock.
    """
    from_us, to_us = _match(seen, first)
    end_from_us, end_to_us = _match(seen, last)
    slope = (end_to_us - to_us) / (end_from_us - from_us) if end_from_us > from_us else 1.0
    if abs(slope - 1.0) > LARGEST_DRIFT:
        slope = 1.0
    return Line(slope, to_us - slope * from_us)


def _match(seen: Sequence[float], marks: Sequence[float]) -> tuple[float, float]:
    """Return one moment on both clocks: where the distances of the marks fit best."""
    count = len(marks)

    def misfit(start: int) -> float:
        return sum(abs((seen[start + at] - seen[start]) - (marks[at] - marks[0])) for at in range(1, count))

    best = min(range(len(seen) - count + 1), key=misfit)
    return seen[best], seen[best] + median(marks[at] - seen[best + at] for at in range(count))
