"""Bytes that a capture must leave as it found them, and bytes that hold nothing until the first replay."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

_POISON = b"\xff"
"""Not a number in every floating-point type, -1 in the signed ones."""


class Intervals:
    """A set of byte addresses, as disjoint ranges."""

    def __init__(self) -> None:
        self._lows: list[int] = []
        self._highs: list[int] = []

    def add(self, low: int, high: int) -> None:
        """Add the addresses from ``low`` up to but without ``high``."""
        first = bisect_left(self._highs, low)
        last = bisect_right(self._lows, high)
        if first < last:
            low = min(low, self._lows[first])
            high = max(high, self._highs[last - 1])
        self._lows[first:last] = [low]
        self._highs[first:last] = [high]

    def find_gaps(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return the parts of a range that the set does not hold yet, by address."""
        gaps = []
        for at in range(bisect_right(self._highs, low), len(self._lows)):
            if self._lows[at] >= high:
                break
            if low < self._lows[at]:
                gaps.append((low, self._lows[at]))
            low = self._highs[at]
        if low < high:
            gaps.append((low, high))
        return gaps

    def __contains__(self, address: int) -> bool:
        at = bisect_right(self._lows, address) - 1
        return at >= 0 and address < self._highs[at]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self._lows, self._highs, strict=True))


class BeforeImages:
    """What device memory held before a capture's operations, which run for their shapes only, wrote to it.

    Args:
        view: gives the bytes of a range of device memory, by address and size; nothing for other memory, which a
            capture's operations do not write.
    """

    def __init__(self, view: Callable[[int, int], memoryview]) -> None:
        self._view = view
        self._owned = Intervals()
        self._known = Intervals()
        self._saved: list[tuple[int, bytes]] = []

    def own(self, low: int, high: int) -> None:
        """Take a range for the capture's own: its bytes are worth nothing before the first replay."""
        if len(self._view(low, high - low)) == high - low:
            self._owned.add(low, high)
            self._known.add(low, high)

    def save(self, low: int, high: int) -> None:
        """Keep the bytes of a range that is about to be written, unless they are kept or the capture's own."""
        gaps = self.find_unknown(low, high)
        for start, end in gaps:
            self._saved.append((start, bytes(self._view(start, end - start))))
        if gaps:
            self._known.add(low, high)

    def find_unknown(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return the parts of a range that are neither kept nor the capture's own."""
        return self._known.find_gaps(low, high) if len(self._view(low, high - low)) == high - low else []

    def restore(self) -> None:
        """Put kept bytes back, and poison the capture's own."""
        for start, data in self._saved:
            self._view(start, len(data))[:] = data
        self._saved.clear()
        for low, high in self._owned:
            self._view(low, high - low)[:] = _POISON * (high - low)
