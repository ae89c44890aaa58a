"""Find the first difference between two pieces of evidence."""

from __future__ import annotations

import marshal
import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeGuard

from judge.models.record import Evidence, Tensor
from judge.verdict.decoding import decode_tensor

SHOWN_CHARACTERS = 300


class Difference(NamedTuple):
    """Where two values part, and what stood there."""

    path: str
    """For example ``[17].addr``; empty for the whole value."""
    expected: str
    actual: str
    label: str = ""
    """What stands there in the author's words, for example ``malloc(1536).addr``; empty without labels."""


def find_difference(expected: Evidence, actual: Evidence) -> Difference | None:
    """Return the first difference of the subject's evidence from the oracle's, or ``None``.

    ``exact`` is strict about types (``1``, ``1.0`` and ``True`` differ; NaN equals NaN). ``close`` allows
    ``atol + rtol * |expected|``, both taken from the oracle's record.
    """
    if _is_identical(expected.value, actual.value):
        return None
    is_close = expected.mode == "close"
    differences = _walk(expected.value, actual.value, "", (expected.rtol, expected.atol) if is_close else None)
    first = next(differences, None)
    if first is None:
        return None
    return first._replace(label=_find_label(first.path, expected.labels))


def _is_identical(expected: Any, actual: Any) -> bool:  # noqa: ANN401  what JSON or a tensor may be
    """Return whether two values are alike to the last type; ``False`` says only that a closer look is needed.

    Nearly all evidence is, and C walks it ten times as fast. Version 2 of marshal writes each value by
    itself, without regard to which objects are the same.
    """
    try:
        return marshal.dumps(expected, 2) == marshal.dumps(actual, 2)
    except ValueError:  # a tensor, or nested too deeply
        return False


Tolerance = tuple[float, float] | None


def _walk(expected: object, actual: object, path: str, tolerance: Tolerance) -> Iterator[Difference]:
    if isinstance(expected, Tensor) or isinstance(actual, Tensor):
        yield from _walk_tensor(expected, actual, path, tolerance)
    elif isinstance(expected, list) and isinstance(actual, list):
        for at, (left, right) in enumerate(zip(expected, actual, strict=False)):
            # Most items are equal scalars: the recursion is for the few that are not.
            if left is not right:
                yield from _walk(left, right, f"{path}[{at}]", tolerance)
        if len(expected) != len(actual):
            yield Difference(path, f"len = {len(expected)}", f"len = {len(actual)}")
    elif isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            if key not in expected or key not in actual:
                yield Difference(f"{path}.{key}", _show(expected.get(key, "…")), _show(actual.get(key, "…")))
            else:
                yield from _walk(expected[key], actual[key], f"{path}.{key}", tolerance)
    elif not _is_same(expected, actual, tolerance):
        yield Difference(path, _show(expected), _show(actual))


def _walk_tensor(expected: object, actual: object, path: str, tolerance: Tolerance) -> Iterator[Difference]:
    if not (isinstance(expected, Tensor) and isinstance(actual, Tensor)) or _header(expected) != _header(actual):
        yield Difference(path, _show(expected), _show(actual))
    elif expected.data != actual.data:
        for at, (left, right) in enumerate(zip(decode_tensor(expected), decode_tensor(actual), strict=True)):
            if not _is_same(left, right, tolerance):
                index = _unravel(at // (2 if expected.dtype.startswith("complex") else 1), expected.shape)
                yield Difference(f"{path}{list(index)}", _show(left), _show(right))


def _header(tensor: Tensor) -> tuple[str, tuple[int, ...], int]:
    return tensor.dtype, tensor.shape, len(tensor.data)


def _is_same(expected: object, actual: object, tolerance: Tolerance) -> bool:
    if type(expected) is float and type(actual) is float and math.isnan(expected):
        return math.isnan(actual)
    if tolerance is None or not (_is_number(expected) and _is_number(actual)):
        return type(expected) is type(actual) and expected == actual
    if math.isnan(actual) or math.isinf(expected) or math.isinf(actual):
        return bool(expected == actual)
    rtol, atol = tolerance
    return bool(abs(expected - actual) <= atol + rtol * abs(expected))


def _is_number(value: object) -> TypeGuard[int | float]:
    return type(value) in (int, float)


def _unravel(at: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    index = []
    for extent in reversed(shape):
        at, inner = divmod(at, extent)
        index.append(inner)
    return tuple(reversed(index))


def _find_label(path: str, labels: tuple[str, ...]) -> str:
    """Return the label of a list's item, and the way from there: ``malloc(1536, stream=2).addr``."""
    number, bracket, rest = path[1:].partition("]")
    if path.startswith("[") and bracket and number.isdigit() and int(number) < len(labels):
        return f"{labels[int(number)]}{rest}"
    return ""


def _show(value: object) -> str:
    if isinstance(value, Tensor):
        return f"tensor of {value.dtype}, shape {list(value.shape)}"
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}… ({len(text)} characters)"
