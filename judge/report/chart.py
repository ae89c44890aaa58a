"""Rows of work over time, drawn in characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from judge.instruments.intervals import Interval
from judge.report.ink import Ink
from judge.report.page import Page
from judge.report.phrases import tell
from judge.report.wrapping import crop

LABEL_WIDTH = 14
SHADES = ((0.66, "█", "#"), (0.25, "▒", "="), (0.0, "·", "-"))
"""From which share of a column on it is drawn with which sign; the last two are Unicode and ASCII."""


@dataclass(frozen=True)
class Row:
    """One line of a chart."""

    label: str
    intervals: Sequence[Interval]
    """Disjoint, by their start."""
    style: str


def add_chart(page: Page, rows: Iterable[Row], start: float, end: float) -> None:
    """Draw rows between two moments over the width of the page."""
    ink = page.ink
    columns = count_columns(page)
    for row in rows:
        label = crop(ink.line(row.label), LABEL_WIDTH, ink.glyph("cut"))
        pad = " " * (LABEL_WIDTH - cell_len(label))
        signs = "".join(_sign(share, ink) for share in fill(row.intervals, start, end, columns))
        page.add_line(Text(f"  {label}{pad} ").append(signs.rstrip(), row.style))


def add_legend(page: Page) -> None:
    """Write what the signs stand for."""
    ink = page.ink
    signs = [sign if ink.can_show(sign) else plain for _, sign, plain in SHADES]
    page.add(tell(ink, "legend", most=signs[0], some=signs[1], little=signs[2]), style="dim", indent=2)


def count_columns(page: Page) -> int:
    """Return how many columns a chart has on this page."""
    return max(page.width - LABEL_WIDTH - 3, 16)


def fill(intervals: Iterable[Interval], start: float, end: float, columns: int) -> list[float]:
    """Return what share of each column the intervals cover, 0 to 1."""
    shares = [0.0] * columns
    width = (end - start) / columns
    if width <= 0:
        return shares
    for low, high in intervals:
        first, last = max((low - start) / width, 0.0), min((high - start) / width, float(columns))
        for at in range(int(first), min(int(last) + 1, columns)):
            shares[at] += max(min(last, at + 1) - max(first, at), 0.0)
    return shares


def _sign(share: float, ink: Ink) -> str:
    for least, sign, plain in SHADES:
        if share > least:
            return sign if ink.can_show(sign) else plain
    return " "
