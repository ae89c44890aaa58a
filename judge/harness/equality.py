"""Equality that looks at types too, and says where two values part."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judge.harness.show import show

WHOLE_LIMIT = 200
"""Values whose text is no longer than this are shown whole."""
DEEPEST = 100


@dataclass(frozen=True)
class Difference:
    """Both sides as text; of long values only the part that differs, with its place."""

    expected: str
    actual: str


def find_difference(actual: object, expected: object) -> Difference | None:
    """Return where the values part, or ``None`` when they are equal in type and value."""
    found = _part(actual, expected, "", 0)
    if found is None:
        return None
    place, part, wanted = found
    shown = show(expected), show(actual)
    is_short = max(map(len, shown)) <= WHOLE_LIMIT and shown[0] != shown[1] and not _is_tensor(expected)
    if place and not is_short:
        shown = show(wanted), show(part)
        if type(part) is not type(wanted):
            shown = _with_type(wanted), _with_type(part)
        return Difference(f"{place} = {shown[0]}", f"{place} = {shown[1]}")
    if type(actual) is not type(expected) or shown[0] == shown[1]:
        return Difference(_with_type(expected), _with_type(actual))
    return Difference(*shown)


def _with_type(value: object) -> str:
    return f"{show(value)} ({type(value).__name__})"


Part = tuple[str, object, object]
"""Place, actual and expected."""


def _part(actual: object, expected: object, place: str, depth: int) -> Part | None:
    if type(actual) is not type(expected) or depth > DEEPEST:
        return place, actual, expected
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return _part_of_items(actual, expected, place, depth)
    if type(expected) is dict and type(actual) is dict:
        return _part_of_dicts(actual, expected, place, depth)
    if _is_tensor(expected):
        return _part_of_tensors(actual, expected, place)
    if type(expected) in (float, complex) and expected != expected:
        return None if actual != actual else (place, actual, expected)
    # ``is True``: an object of the learner's may answer anything
    return None if (expected == actual) is True else (place, actual, expected)


def _part_of_items(actual: Sequence[object], expected: Sequence[object], place: str, depth: int) -> Part | None:
    for at, (one, other) in enumerate(zip(actual, expected, strict=False)):
        found = _part(one, other, f"{place}[{at}]", depth + 1)
        if found is not None:
            return found
    if len(actual) != len(expected):
        return f"len({place})" if place else "len", len(actual), len(expected)
    return None


def _part_of_dicts(actual: dict[object, object], expected: dict[object, object], place: str, depth: int) -> Part | None:
    if actual.keys() != expected.keys():
        return f"{place}.keys()", sorted(actual, key=str), sorted(expected, key=str)
    for key, other in expected.items():
        found = _part(actual[key], other, f"{place}[{show(key, 100)}]", depth + 1)
        if found is not None:
            return found
    return None


def _is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and type(value) is torch.Tensor


def _part_of_tensors(actual: Any, expected: Any, place: str) -> Part | None:  # noqa: ANN401  torch is not imported here
    """Compare dtype, shape, device and values; NaN equals NaN."""
    for name in ("dtype", "shape", "device"):
        one, other = getattr(actual, name), getattr(expected, name)
        if one != other:
            return f"{place}.{name}", _Word(str(one)), _Word(str(other))
    is_equal = actual == expected
    if actual.is_floating_point() or actual.is_complex():
        is_equal = is_equal | (actual.isnan() & expected.isnan())
    if bool(is_equal.all()):
        return None
    at = tuple((~is_equal).nonzero()[0].tolist())
    return f"{place}[{', '.join(map(str, at))}]", actual[at].item(), expected[at].item()


class _Word(str):
    """Text that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
