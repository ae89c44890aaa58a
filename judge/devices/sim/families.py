"""Families of ops: constants of those that the roofline alone does not describe."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, exp, log

from judge.devices.sim.profile import Profile

_BLOCKS_PER_MULTIPROCESSOR = 16
Pair = Mapping[str, float]
"""A figure for single precision (``f32``; it serves doubles and integers too) and one for half types (``f16``)."""


@dataclass(frozen=True)
class Family:
    """One table of a profile's ``[ops]``; an op in none belongs to ``elementwise``.

    Times are microseconds.
    """

    floor_us: Pair
    """What the smallest call takes on the device."""
    launch_us: Pair
    """What a call takes on the host."""
    names: tuple[str, ...] = ()
    """The ops, without namespace and overload."""
    passes: float = 1.0
    """How often the bytes go through memory."""
    is_gather: bool = False
    """It reads of its source no more than it writes."""
    wide_from: int = 0
    """From so many elements on it takes more than one kernel…"""
    wide_floor_us: float = 0.0
    """…and this is its floor."""
    elements_per_us: Pair = field(default_factory=dict)
    """Elements in a microsecond, where arithmetic sets the pace."""
    row_from: int = 0
    """Rows of so many elements and more are one block's work each…"""
    row_elements_per_us: Pair = field(default_factory=dict)
    """…at this pace."""
    curve: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """Elements and device time, where nothing simpler fits: straight between the points on logarithmic scales."""

    def floor(self, dtype_class: str, elements: int) -> float:
        """Return the device time of a call that moves and computes nothing to speak of."""
        if self.wide_from and elements >= self.wide_from:
            return self.wide_floor_us
        return _pick(self.floor_us, dtype_class)

    def launch(self, dtype_class: str) -> float:
        """Return the host time of a call."""
        return _pick(self.launch_us, dtype_class)

    def element_rate(self, dtype_class: str) -> float:
        """Return how many elements arithmetic lets through in a microsecond; 0 for no limit."""
        return _pick(self.elements_per_us, dtype_class)

    def read_rows(self, dtype_class: str, elements: int, row: int, multiprocessors: int) -> float:
        """Return the time that long rows take when each is one block's work; 0 for short ones."""
        rate = _pick(self.row_elements_per_us, dtype_class)
        if not rate or not row or row < self.row_from:
            return 0.0
        waves = ceil(elements / row / (multiprocessors * _BLOCKS_PER_MULTIPROCESSOR))
        return waves * row / rate

    def read_curve(self, dtype_class: str, elements: int) -> float | None:
        """Return the time that the curve gives; ``None`` without a curve.

        Left of the first point it is flat, right of the last it goes on in proportion.
        """
        if not self.curve:
            return None
        points = self.curve["f16" if dtype_class == "f16" and "f16" in self.curve else "f32"]
        at = bisect_left(points, (float(elements), 0.0))
        if at == 0:
            return points[0][1]
        if at == len(points):
            return points[-1][1] * elements / points[-1][0]
        (x0, y0), (x1, y1) = points[at - 1], points[at]
        return y0 * exp(log(elements / x0) * log(y1 / y0) / log(x1 / x0))


def read_families(profile: Profile) -> dict[str, Family]:
    """Return the family of each op that has one, by the op's name; the one for all others under the empty name.

    Raises:
        ValueError: the profile has no ``[ops.elementwise]``, or one of its tables a key that is not known.
    """
    families: dict[str, Family] = {}
    for key, table in profile.ops.items():
        try:
            family = _read(dict(table))
        except (TypeError, KeyError) as error:
            raise ValueError(f"{profile.key}.toml: [ops.{key}]: {error}") from None
        for name in family.names:
            families[name] = family
        if key == "elementwise":
            families[""] = family
    if "" not in families:
        raise ValueError(f"{profile.key}.toml: [ops.elementwise] is missing")
    return families


def _read(table: dict[str, object]) -> Family:
    curve = table.get("curve")
    if isinstance(curve, dict):
        table["curve"] = {name: tuple((float(x), float(y)) for x, y in points) for name, points in curve.items()}
    if isinstance(table.get("names"), list):
        table["names"] = tuple(table["names"])  # type: ignore[arg-type]  # a list, as just seen
    return Family(**table)  # type: ignore[arg-type]  # a wrong type shows when the figures are used


def _pick(pair: Pair, dtype_class: str) -> float:
    if dtype_class == "f16":
        return pair.get("f16", pair.get("f32", 0.0))
    return pair.get("f32", 0.0)
