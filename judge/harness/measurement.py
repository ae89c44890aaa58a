"""Figures that are taken inside the process, for the scores other than correctness."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from traceback import FrameSummary
from typing import Any

from judge.harness.channel import Sink
from judge.harness.diagnostic import Words, as_text

MOST_PLACES = 50


class Measure:
    """The fixture ``measure``.

    Args:
        sink: where records go.
        test: id of the test.
    """

    def __init__(self, sink: Sink, test: str) -> None:
        self._sink = sink
        self._test = test

    def __call__(
        self,
        name: str,
        value: float,
        unit: str = "",
        places: Iterable[Mapping[str, Any] | FrameSummary] = (),
        look: Words | None = None,
    ) -> None:
        """Record one figure.

        Args:
            name: ``syncs``, ``memory_bytes``, ``time_ratio``, or a name of the problem's own.
            value: a finite number.
            unit: unit for the report.
            places: lines that the figure counts, as frame summaries or as mappings with the fields of a frame.
            look: what to look at when the figure is over its budget.

        Raises:
            ValueError: the value is no finite number.
        """
        if type(value) not in (int, float) or not math.isfinite(value):
            raise ValueError(f"measure({name!r}) was given {value!r}, which is no finite number")
        shown = [_place(place) for place, _count in zip(places, range(MOST_PLACES), strict=False)]
        fields: dict[str, Any] = {"value": float(value), "unit": unit, "places": shown, "look": as_text(look)}
        self._sink.send("measurement", test=self._test, name=name, **fields)


def _place(place: Mapping[str, Any] | FrameSummary) -> dict[str, Any]:
    if isinstance(place, FrameSummary):
        return {
            "file": place.filename,
            "line": place.lineno or 0,
            "function": place.name,
            "code": (place.line or "").strip(),
        }
    return {
        "file": str(place["file"]),
        "line": int(place["line"]),
        "function": str(place.get("function", "")),
        "code": str(place.get("code", "")),
    }
