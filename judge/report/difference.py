"""Where two printed values differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_TOKEN = re.compile(r"0[xX][\da-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\w+|[^\S\n]+|.", re.DOTALL)
"""Whole numbers and words: 2097152 against 4194304 differs as a whole, not in four of its digits."""

MAX_WORK = 200_000
"""Pairs of tokens that are still aligned; beyond that the whole middle counts as different."""

Span = tuple[int, int]


@dataclass(frozen=True)
class Difference:
    """Differing parts as (start, end) offsets, pairwise; an empty span says that something is missing there."""

    expected: tuple[Span, ...]
    actual: tuple[Span, ...]


def compare(expected: str, actual: str) -> Difference:
    """Return the parts in which ``actual`` differs from ``expected``, by words and numbers."""
    left, right = _TOKEN.findall(expected), _TOKEN.findall(actual)
    head = _count_equal(left, right)
    tail = _count_equal(left[head:][::-1], right[head:][::-1])
    left_middle, right_middle = left[head : len(left) - tail], right[head : len(right) - tail]
    start = len("".join(left[:head]))
    left_at, right_at = _offsets(left_middle, start), _offsets(right_middle, start)
    pairs = [((left_at[a], left_at[b]), (right_at[c], right_at[d])) for a, b, c, d in _align(left_middle, right_middle)]
    return Difference(tuple(one for one, _ in pairs), tuple(other for _, other in pairs))


def _count_equal(left: list[str], right: list[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _align(left: list[str], right: list[str]) -> list[tuple[int, int, int, int]]:
    if not left and not right:
        return []
    if len(left) * len(right) > MAX_WORK:
        return [(0, len(left), 0, len(right))]
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return [(a, b, c, d) for kind, a, b, c, d in blocks if kind != "equal"]


def _offsets(tokens: list[str], start: int) -> list[int]:
    offsets = [start]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    return offsets
