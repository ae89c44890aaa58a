"""The bytes an operation touches, and whether two operations share any: exact on strided views."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import gcd
from typing import NamedTuple

Dimensions = tuple[tuple[int, int], ...]
"""Count and stride in bytes of each dimension; strides are not negative."""

SEARCH_STEPS = 4096
"""Candidates that the search tries before it draws the bytes instead."""
DRAWN_BYTES = 1 << 29
"""Most bytes that are drawn, at a bit each."""
LONG_SEARCH_STEPS = 1 << 18
"""Candidates that are tried where there is too much to draw."""


class Access(NamedTuple):
    """The bytes of one tensor that an operation touches.

    Args:
        low: address of the first byte.
        high: address after the last byte; not above ``low`` when nothing is touched.
        strides: count and stride in bytes of each dimension; ``None`` when every byte of the range is touched.
        item_bytes: bytes of an element.
        dtype: the elements' type as torch names it without its module (``float32``), to show values; ``""`` if unknown.
        is_atomic: whether the access is an atomic update: such accesses do not race with one another.
    """

    low: int
    high: int
    strides: Dimensions | None = None
    item_bytes: int = 1
    dtype: str = ""
    is_atomic: bool = False


def overlaps(first: Access, second: Access) -> bool:
    """Tell whether two accesses have a byte in common."""
    if first.low >= second.high or second.low >= first.high or first.high <= first.low or second.high <= second.low:
        return False
    if first.strides is None and second.strides is None:
        return True
    run, dimensions = _shape(first)
    other_run, other_dimensions = _shape(second)
    return _meet(second.low - first.low, run, dimensions, other_run, other_dimensions)


def runs(access: Access) -> Iterator[tuple[int, int]]:
    """Yield the ranges of neighbouring bytes ``(low, high)`` of an access, upwards unless its dimensions interleave."""
    run, dimensions = _shape(access)
    if access.high <= access.low:
        return
    offsets: Iterator[int] = iter((0,))
    for count, stride in dimensions:
        offsets = _step(offsets, count, stride)
    for offset in offsets:
        yield access.low + offset, access.low + offset + run


def count_runs(access: Access) -> int:
    """Return how many ranges :func:`runs` yields."""
    total = 1
    for count, _ in _shape(access)[1]:
        total *= count
    return total


def _step(offsets: Iterator[int], count: int, stride: int) -> Iterator[int]:
    return (offset + at * stride for offset in offsets for at in range(count))


def _shape(access: Access) -> tuple[int, Dimensions]:
    """Return the bytes of a run and the dimensions that repeat it, the largest stride first."""
    if access.strides is None:
        return access.high - access.low, ()
    return _reduce(access.item_bytes, access.strides)


@lru_cache(maxsize=4096)
def _reduce(run: int, strides: Dimensions) -> tuple[int, Dimensions]:
    """Take neighbouring or overlapping repeats into the run, and join dimensions that continue each other."""
    kept: list[tuple[int, int]] = []
    for stride, count in sorted((stride, count) for count, stride in strides if count > 1 and stride > 0):
        if not kept and stride <= run:
            run += stride * (count - 1)
        elif kept and stride == kept[-1][0] * kept[-1][1]:
            kept[-1] = (kept[-1][0] * count, kept[-1][1])
        else:
            kept.append((count, stride))
    return run, tuple(reversed(kept))


@lru_cache(maxsize=16384)
def _meet(distance: int, run: int, mine: Dimensions, other_run: int, others: Dimensions) -> bool:
    """Tell whether runs at ``sum(mine)`` and at ``distance + sum(others)`` share a byte.

    With each of the other's counts turned round, this asks whether a sum of multiples of all strides falls into one
    window of ``run + other_run - 1`` bytes.
    """
    reach = sum((count - 1) * stride for count, stride in others)
    top = distance + reach + other_run - 1
    counts: dict[int, int] = {}
    for count, stride in mine + others:
        counts[stride] = counts.get(stride, 0) + count - 1
    bottom = top - (run + other_run - 2)
    steps = sorted(counts.items())
    while steps and steps[0][0] <= top - bottom + 1:
        # Multiples no farther apart than the window is wide leave no gap: they widen it.
        stride, count = steps.pop(0)
        bottom -= stride * count
    verdict = _Search(tuple(reversed(steps))).find(bottom, top)
    if verdict is not None:
        return verdict
    if max(run + sum((count - 1) * stride for count, stride in mine), reach + other_run) > DRAWN_BYTES:
        return False  # not known; a race that is not there would be worse than one that is not told
    drawn, other = _draw(run, mine), _draw(other_run, others)
    return drawn & (other << distance if distance >= 0 else other >> -distance) != 0


class _Search:
    """Whether multiples of strides add up to a value in a window.

    Args:
        steps: stride, and the largest multiple, of each; the largest stride first.
    """

    def __init__(self, steps: tuple[tuple[int, int], ...]) -> None:
        self._steps = steps
        self._reach = [sum(stride * count for stride, count in steps[at:]) for at in range(len(steps) + 1)]
        self._divisor = [gcd(*(stride for stride, _ in steps[at:])) for at in range(len(steps) + 1)]
        self._left = SEARCH_STEPS if self._reach[0] <= DRAWN_BYTES else LONG_SEARCH_STEPS

    def find(self, bottom: int, top: int) -> bool | None:
        """Return the answer for ``bottom <= sum <= top``, or ``None`` when the search takes too long."""
        return self._from(0, bottom, top)

    def _from(self, at: int, bottom: int, top: int) -> bool | None:
        if bottom <= 0 <= top:
            return True
        if top < 0 or bottom > self._reach[at] or at == len(self._steps):
            return False
        if top // self._divisor[at] * self._divisor[at] < bottom:
            return False
        stride, most = self._steps[at]
        least = max(0, -((self._reach[at + 1] - bottom) // stride))
        for multiple in range(least, min(most, top // stride) + 1):
            self._left -= 1
            if self._left == 0:
                return None
            verdict = self._from(at + 1, bottom - multiple * stride, top - multiple * stride)
            if verdict is not False:
                return verdict
        return False


def _draw(run: int, dimensions: Dimensions) -> int:
    """Return the bytes as bits of one number, by doubling: a shift for each binary digit of each count."""
    drawn = (1 << run) - 1
    for count, stride in reversed(dimensions):
        done = 1
        while done < count:
            # A last step that is shorter than what is drawn overlaps it, which changes nothing.
            step = min(done, count - done)
            drawn |= drawn << (step * stride)
            done += step
    return drawn
