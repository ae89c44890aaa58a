"""A small drawing of what ran when, in plain text: one row a stream, one for the waits of the host."""

from __future__ import annotations

import math
from collections.abc import Iterable

from judge.instruments.observation import DeviceSpan, Engine, Observation
from judge.locale import pair

WIDTH = 64
"""Columns of time."""
SIGNS: dict[Engine, str] = {"h2d": ">", "sm": "#", "d2h": "<"}
LAUNCH, WAIT = ".", "w"
ROUNDING = 1e-9
"""Of a column: what ends where a column ends is not in the next."""
MOST_LABEL = 12
"""Columns of a stream's name."""


def draw_timeline(seen: Observation, width: int = WIDTH) -> dict[str, str]:
    """Return the drawing by language; only its last line has words.

    Args:
        seen: what was seen, to its end.
        width: columns of time.
    """
    end_us = max([seen.stopped_us, *(span.ended_us for span in seen.spans)])
    scale = _Scale(seen.started_us, end_us, width)
    launches = [(at_us, at_us, LAUNCH) for span in seen.spans if (at_us := span.launched_us) is not None]
    waits = [(sync.started_us, sync.started_us + sync.waited_us, WAIT) for sync in seen.syncs]
    rows = {"host": _fill([*launches, *waits], scale)}
    for name in dict.fromkeys(span.stream for span in seen.spans):
        own = (span for span in seen.spans if span.stream == name)
        rows[name] = _fill((_as_mark(span) for span in own), scale)
    wide = max(len(name) for name in rows)
    lines = [f"{name[:MOST_LABEL]:{min(wide, MOST_LABEL)}} |{row}|" for name, row in rows.items()]
    legend = pair("instruments.drawing_legend", span=f"{end_us - seen.started_us:.0f}")
    return {language: "\n".join([*lines, words]) for language, words in legend.items()}


class _Scale:
    """Columns of moments."""

    def __init__(self, start_us: float, end_us: float, width: int) -> None:
        self._start_us = start_us
        self._per_us = width / (end_us - start_us) if end_us > start_us else 0.0
        self.width = width

    def find(self, start_us: float, end_us: float) -> range:
        """Return the columns that a stretch of time touches: one at least."""
        first = min(max(int((start_us - self._start_us) * self._per_us), 0), self.width - 1)
        behind = math.ceil((end_us - self._start_us) * self._per_us - ROUNDING)
        return range(first, min(max(behind, first + 1), self.width))


def _as_mark(span: DeviceSpan) -> tuple[float, float, str]:
    return span.started_us, span.ended_us, SIGNS[span.engine]


def _fill(marks: Iterable[tuple[float, float, str]], scale: _Scale) -> str:
    """Return a row with a sign in each column that a mark touches; of two, the later one is seen."""
    row = [" "] * scale.width
    for start_us, end_us, sign in marks:
        for at in scale.find(start_us, end_us):
            row[at] = sign
    return "".join(row)
