"""Where two printed values differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_TOKEN = re.compile(r"0[xX][\da-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\w+|[^\S\n]+|.", re.DOTALL)
"""Whole numbers and words: 2097152 against 4194304 differs as a whole, not in four of its digits."""

MAX_WORK = 200_000
"""Pairs of tokens that are still aligned; beyond that the whole middle counts as different."""

OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")

Span = tuple[int, int]
Change = tuple[int, int, int, int]
"""Tokens that differ: start and end on the left, start and end on the right."""


@dataclass(frozen=True)
class Difference:
    """Differing parts as (start, end) offsets, pairwise; an empty span says that something is missing there."""

    expected: tuple[Span, ...]
    actual: tuple[Span, ...]


def compare(expected: str, actual: str) -> Difference:
    """Return the parts in which ``actual`` differs from ``expected``, by words and numbers."""
    left, right = _TOKEN.findall(expected), _TOKEN.findall(actual)
    left_at, right_at = _offsets(left), _offsets(right)
    pairs = [((left_at[a], left_at[b]), (right_at[c], right_at[d])) for a, b, c, d in _find_changes(left, right)]
    return Difference(tuple(one for one, _ in pairs), tuple(other for _, other in pairs))


def _find_changes(left: list[str], right: list[str]) -> list[Change]:
    """Return what differs, in order."""
    head = _count_equal(left, right)
    tail = _count_equal(left[head:][::-1], right[head:][::-1])
    middle = _align(left[head : len(left) - tail], right[head : len(right) - tail])
    found = [(a + head, b + head, c + head, d + head) for a, b, c, d in middle]
    ends = [(0, 0), *((b, d) for _, b, _, d in found)]
    starts = [*((a, c) for a, _, c, _ in found[1:]), (len(left), len(right))]
    return [_slide(one, left, right, *room) for one, *room in zip(found, ends, starts, strict=False)]


def _slide(change: Change, left: list[str], right: list[str], floor: Span, ceiling: Span) -> Change:
    """Move what stands on one side only to where it is a whole item: ``(2, x), `` rather than ``2, x), (``.

    Args:
        change: the alignment's choice among places that are equally right.
        left: all tokens of the one side.
        right: all tokens of the other side.
        floor: where the change before it ends, on both sides.
        ceiling: where the change after it starts, on both sides.
    """
    a, b, c, d = change
    if (a == b) == (c == d):
        return change
    tokens, start, end = (right, c, d) if a == b else (left, a, b)
    back_room = min(a - floor[0], c - floor[1])
    room = min(ceiling[0] - b, ceiling[1] - d)
    back = _count_equal(tokens[start - back_room : start][::-1], tokens[end - back_room : end][::-1])
    forth = _count_equal(tokens[start : start + room], tokens[end : end + room])
    by = min(range(-back, forth + 1), key=lambda by: (_count_flaws(tokens[start + by : end + by]), abs(by)))
    return a + by, b + by, c + by, d + by


def _count_flaws(tokens: list[str]) -> int:
    """Return how many brackets lack their counterpart."""
    opened = lacking = 0
    for token in tokens:
        if token in CLOSING and not opened:
            lacking += 1
        else:
            opened += (token in OPENING) - (token in CLOSING)
    return opened + lacking


def _count_equal(left: list[str], right: list[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _align(left: list[str], right: list[str]) -> list[Change]:
    if not left and not right:
        return []
    if len(left) * len(right) > MAX_WORK:
        return [(0, len(left), 0, len(right))]
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return [(a, b, c, d) for kind, a, b, c, d in blocks if kind != "equal"]


def _offsets(tokens: list[str]) -> list[int]:
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    return offsets
