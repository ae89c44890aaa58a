"""A small drawing of what ran when, in plain text: one row a stream or engine, one for the host."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from unicodedata import east_asian_width

from judge.instruments.observation import DeviceSpan, Engine, Observation
from judge.locale import pair, say

WIDTH = 64
"""Columns of time."""
SIGNS: dict[Engine, str] = {"h2d": ">", "sm": "#", "d2h": "<"}
HOST = "host"
ROWS = (HOST, *SIGNS)
"""Rows that have a name in both languages."""
LAUNCH, WAIT = ".", "w"
ROUNDING = 1e-9
"""Of a column: what ends where a column ends is not in the next."""
MOST_LABEL = 12
"""Columns of a stream's name."""


def draw_timeline(seen: Observation, width: int = WIDTH, *, by_piece: bool = False) -> dict[str, str]:
    """Return the drawing by language; only its last line has words.

    Args:
        seen: what was seen, to its end.
        width: columns of time.
        by_piece: draw one row an engine, with the number of the piece that it works on: of as many pieces as there are
            copies to the host, or to the device where none comes back.
    """
    end_us = max([seen.stopped_us, *(span.ended_us for span in seen.spans)])
    scale = _Scale(seen.started_us, end_us, width)
    launches = [(at_us, at_us, LAUNCH) for span in seen.spans if (at_us := span.launched_us) is not None]
    waits = [(sync.started_us, sync.started_us + sync.waited_us, WAIT) for sync in seen.syncs]
    rows = {HOST: _fill([*launches, *waits], scale)}
    rows |= _draw_pieces(seen.spans, scale) if by_piece else _draw_streams(seen.spans, scale)
    legend = pair(f"instruments.{'pieces' if by_piece else 'drawing'}_legend", span=f"{end_us - seen.started_us:.0f}")
    return {language: "\n".join([*_label(rows, language), words]) for language, words in legend.items()}


def _label(rows: Mapping[str, str], language: str) -> list[str]:
    """Return the rows with their names in front; those of streams are the user's, and cut."""
    names = [say(f"instruments.row_{key}", language) if key in ROWS else key[:MOST_LABEL] for key in rows]
    widest = max(map(_count_cells, names))
    pads = (" " * (widest - _count_cells(name)) for name in names)
    return [f"{name}{pad} |{row}|" for name, pad, row in zip(names, pads, rows.values(), strict=True)]


def _count_cells(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


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


def _draw_streams(spans: Iterable[DeviceSpan], scale: _Scale) -> dict[str, str]:
    rows: dict[str, list[tuple[float, float, str]]] = {}
    for span in spans:
        rows.setdefault(span.stream, []).append((span.started_us, span.ended_us, SIGNS[span.engine]))
    return {name: _fill(marks, scale) for name, marks in rows.items()}


def _draw_pieces(spans: Iterable[DeviceSpan], scale: _Scale) -> dict[str, str]:
    rows: dict[Engine, list[DeviceSpan]] = {engine: [] for engine in SIGNS}
    for span in spans:
        rows[span.engine].append(span)
    pieces = len(rows["d2h"]) or len(rows["h2d"])
    return {engine: _fill(_number(own, pieces), scale) for engine, own in rows.items() if own}


def _number(spans: Sequence[DeviceSpan], pieces: int) -> Iterator[tuple[float, float, str]]:
    """Yield marks that bear the number of a piece, modulo 10; signs where the work does not divide evenly."""
    in_each = len(spans) // pieces if pieces and len(spans) % pieces == 0 else 0
    for at, span in enumerate(spans):
        yield span.started_us, span.ended_us, str(at // in_each % 10) if in_each else SIGNS[span.engine]


def _fill(marks: Iterable[tuple[float, float, str]], scale: _Scale) -> str:
    """Return a row with a sign in each column that a mark touches; of two, the later one is seen."""
    row = [" "] * scale.width
    for start_us, end_us, sign in marks:
        for at in scale.find(start_us, end_us):
            row[at] = sign
    return "".join(row)
