"""A page of lines that are already broken to the terminal's width."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.text import Text

from judge.report.ink import Ink
from judge.report.wrapping import crop, wrap

_CODE = re.compile(r"`[^`\n]+`")


@dataclass
class Page:
    """Lines in the making.

    Args:
        ink: language and characters.
        width: columns that may be filled.
        is_verbose: whether nothing is to be left out for brevity.
    """

    ink: Ink
    width: int
    is_verbose: bool = False
    lines: list[Text] = field(default_factory=list)

    def gap(self) -> None:
        """Leave one empty line, never two."""
        if self.lines and self.lines[-1].plain:
            self.lines.append(Text())

    def rule(self) -> None:
        """Draw a faint line over the whole width."""
        self.lines.append(Text(self.ink.glyph("rule") * self.width, style="dim"))

    def heading(self, text: str) -> None:
        """Start a section."""
        self.gap()
        self.add(text, style="bold")

    def add(self, text: str, *, style: str = "", indent: int = 0, lead: str = "", lead_style: str = "") -> None:
        """Write text, wrapped; ``lead`` stands before the first line and the others hang under it."""
        body = Text(text, style=style)
        if "`" in text:
            body.highlight_regex(_CODE, "cyan")
        hanging = indent + cell_len(lead)
        for at, line in enumerate(wrap(body, max(self.width - hanging, 8))):
            first = Text(" " * indent).append(lead, lead_style)
            self.lines.append((first if at == 0 else Text(" " * hanging)).append_text(line))

    def add_cropped(self, text: str, *, style: str = "", indent: int = 0) -> None:
        """Write one line, cut at the width."""
        shown = crop(text.expandtabs(4), max(self.width - indent, 8), self.ink.glyph("cut"))
        self.lines.append(Text(" " * indent).append(shown, style))

    def add_line(self, line: Text) -> None:
        """Write one line that is known to fit."""
        self.lines.append(line)
