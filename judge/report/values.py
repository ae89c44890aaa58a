"""Expected and actual, one under the other, with the differing parts marked."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from judge.report.difference import Difference, Span, compare
from judge.report.page import Page
from judge.report.wrapping import fold

MAX_ROWS = 8
"""Rows shown of one value: those around its first difference."""
MAX_ROWS_VERBOSE = 400
MAX_CHARACTERS = 40_000
"""Characters of one value that are looked at."""

Window = tuple[int, int]


@dataclass(frozen=True)
class _Value:
    label: str
    text: str
    spans: tuple[Span, ...]
    style: str
    has_carets: bool


def add_values(page: Page, expected: str | None, actual: str | None, indent: int, label_width: int) -> None:
    """Write both values aligned; the part that differs is coloured, and underlined with ``^`` in the actual one."""
    ink = page.ink
    start = _find_start(expected or "", actual or "")
    left, right = (
        None if text is None else ink.clean(text[start : start + MAX_CHARACTERS]).expandtabs(4)
        for text in (expected, actual)
    )
    found = Difference((), ()) if left is None or right is None else compare(left, right)
    if left is not None:
        _add_value(page, _Value(ink.say("expected"), left, found.expected, "bold green", False), indent, label_width)
    if right is not None:
        _add_value(page, _Value(ink.say("actual"), right, found.actual, "bold red", True), indent, label_width)
    left_out = max(len(expected or ""), len(actual or "")) - MAX_CHARACTERS
    if left_out > 0:
        page.add(ink.say("characters_cut", count=left_out), style="dim", indent=indent)
    elif expected is not None and expected == actual:
        page.add(ink.say("look_alike"), style="dim", indent=indent)


def _find_start(expected: str, actual: str) -> int:
    """Return where to begin in values that are too long to be looked at whole: before their first difference."""
    if max(len(expected), len(actual)) <= MAX_CHARACTERS:
        return 0
    pairs = enumerate(zip(expected, actual, strict=False))
    first = next((at for at, (one, other) in pairs if one != other), min(len(expected), len(actual)))
    return max(0, first - MAX_CHARACTERS // 4)


def _add_value(page: Page, value: _Value, indent: int, label_width: int) -> None:
    # One column is left for the mark of something that is missing at the end of a full row.
    room = max(page.width - indent - label_width - 1, 8)
    rows = _rows(value.text, room)
    limit = MAX_ROWS_VERBOSE if page.is_verbose else MAX_ROWS
    marked = bisect_right([start for start, _ in rows], value.spans[0][0]) - 1 if value.spans else 0
    first = max(0, min(marked - 2, len(rows) - limit))
    label = value.label + " " * (label_width - cell_len(value.label))
    if first:
        page.add(page.ink.say("rows_above", count=first), style="dim", indent=indent, lead=label, lead_style="dim")
        label = " " * label_width
    for row in rows[first : first + limit]:
        _add_row(page, value, row, Text(" " * indent).append(label, "dim"))
        label = " " * label_width
    left_out = len(rows) - first - limit
    if left_out > 0:
        page.add(page.ink.say("rows_below", count=left_out), style="dim", indent=indent + label_width)


def _rows(text: str, room: int) -> list[Window]:
    """Return the rows of a text as (start, end); a line that is too long takes several."""
    rows: list[Window] = []
    start = 0
    for line in text.split("\n"):
        rows += [(start + a, start + b) for a, b in _fold_softly(line, room)]
        start += len(line) + 1
    return rows


def _fold_softly(line: str, room: int) -> list[Window]:
    """Return the pieces of a line, cut after a space where one is near."""
    pieces: list[Window] = []
    start = 0
    while offsets := fold(line[start : start + room + 1], room):
        end = start + offsets[0]
        space = line.rfind(" ", end - room // 3, end)
        end = space + 1 if space > start else end
        pieces.append((start, end))
        start = end
    return [*pieces, (start, len(line))]


def _spans_in(value: _Value, row: Window) -> list[Span]:
    """Return the parts of the spans that lie in a row; what is missing, or a line end, marks one place."""
    start, end = row
    ends_line = _ends_line(value.text, end)
    parts: list[Span] = []
    for a, b in value.spans:
        first, last = max(a, start), min(b, end)
        is_missing_here = a == b == first and a < end
        is_at_line_end = ends_line and first == end and (b > end or a == b == end)
        if first < last or is_missing_here or is_at_line_end:
            parts.append((first, max(first, last)))
    return parts


def _add_row(page: Page, value: _Value, row: Window, lead: Text) -> None:
    start, end = row
    if not _ends_line(value.text, end):
        end = start + len(value.text[start:end].rstrip())
    body = Text(value.text[start:end])
    carets = ""
    for a, b in _spans_in(value, (start, end)):
        body.stylize(value.style, a - start, b - start)
        carets += " " * (cell_len(value.text[start:a]) - len(carets)) + "^" * max(cell_len(value.text[a:b]), 1)
    hanging = lead.cell_len
    page.add_line(lead.append_text(body))
    if carets and value.has_carets:
        page.add_line(Text(" " * hanging).append(carets, "red"))


def _ends_line(text: str, at: int) -> bool:
    return at == len(text) or text[at] == "\n"
