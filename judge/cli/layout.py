"""Help pages that line up where a character is two cells wide."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click
from rich.cells import cell_len

_WIDE = "\u2e80-\u9fff\uff00-\uffef"
_LEANING = "，。；：、）”！？"
"""Punctuation that never starts a line."""
_SEAM = rf"(?<=[{_WIDE}]) (?=[{_WIDE}])"
"""Where two lines of Chinese were joined: it has no spaces."""
# Compiled by re when first used: the wide range costs 5 ms each, which English pages need not pay.
_UNIT = rf"(?:[^\s{_WIDE}]+|[{_WIDE}])[{_LEANING}]*\s*|\s+"
_ASCII_UNIT = r"\S+\s*|\s+"


class Page(click.HelpFormatter):
    """A help page measured in terminal cells."""

    def write_heading(self, heading: str) -> None:
        """Write a heading; its colon is part of it, because each language has its own."""
        self.write(f"{' ' * self.current_indent}{heading}\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs, each wrapped."""
        indent = " " * self.current_indent
        for paragraph in text.splitlines():
            for line in wrap(paragraph, self.width - self.current_indent):
                self.write(f"{indent}{line}".rstrip() + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write two columns; a term that is too wide for its column stands on a line of its own."""
        rows = list(rows)
        indent = " " * self.current_indent
        widest = max((cell_len(term) for term, _ in rows if cell_len(term) <= col_max), default=0)
        second_at = widest + col_spacing
        for term, description in rows:
            lines = wrap(description, max(self.width - self.current_indent - second_at, 20))
            if cell_len(term) > widest:
                self.write(f"{indent}{term}\n")
            else:
                self.write(f"{indent}{pad(term, second_at)}{lines.pop(0)}".rstrip() + "\n")
            for line in lines:
                self.write(f"{indent}{' ' * second_at}{line}\n")


def pad(text: str, width: int) -> str:
    """Return the text with spaces after it, up to ``width`` cells."""
    return text + " " * max(width - cell_len(text), 0)


def wrap(text: str, width: int) -> list[str]:
    """Cut a line into lines of at most ``width`` cells, at spaces and between Chinese characters."""
    lines = [""]
    for unit in re.findall(_ASCII_UNIT if text.isascii() else _UNIT, text):
        if lines[-1] and cell_len(lines[-1] + unit.rstrip()) > width:
            lines.append(unit)
        else:
            lines[-1] += unit
    return [line.rstrip() for line in lines]


def reflow(text: str, width: int, most: int = 100) -> str:
    """Return paragraphs that were broken into lines by hand, broken anew to ``width`` cells, at ``most`` columns.

    A paragraph that is indented, a list or code keeps its lines.
    """
    shown = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.split("\n")
        if not any(_is_laid_out(line) for line in lines):
            lines = [re.sub(_SEAM, "", " ".join(line.strip() for line in lines))]
        shown.append("\n".join(piece for line in lines for piece in wrap(line, max(min(width, most), 20))))
    return "\n\n".join(shown)


def _is_laid_out(line: str) -> bool:
    return line.startswith((" ", "\t", "- ", "* ", "|", "```"))


def align(rows: Iterable[tuple[str, ...]], gap: str = "  ") -> list[str]:
    """Return rows of a table as lines whose columns line up; the last column is as long as it likes."""
    table = list(rows)
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    return [gap.join(map(pad, row, widths)).rstrip() for row in table]
