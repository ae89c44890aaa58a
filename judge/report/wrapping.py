"""Break text into lines by the width of its characters: Chinese between characters, the rest at spaces."""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.text import Text

_OPENING = "（「『《【〈“"
_CLOSING = "，。：；！？、）」』》】〉”…"
_WIDE = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_UNIT = re.compile(
    rf"[{_OPENING}]*"
    rf"(?:(?![{_OPENING}{_CLOSING}])[{_WIDE}]|[^\s{_WIDE}{_OPENING}{_CLOSING}]+|(?=[{_CLOSING}])|$)"
    rf"[{_CLOSING},.;:!?)\]%]*\s*"
    r"|\s+|."
)
"""What stays together: a word or a Chinese character, with the punctuation that leans on it."""


def wrap(text: Text, width: int) -> list[Text]:
    """Return ``text`` in lines of at most ``width`` cells, styles kept, white space at the ends dropped."""
    lines: list[Text] = []
    for paragraph in text.split("\n", allow_blank=True):
        paragraph.expand_tabs(4)
        for line in paragraph.divide(_find_breaks(paragraph.plain, max(width, 2))):
            line.rstrip()
            lines.append(line)
    return lines


def fold(text: str, width: int) -> list[int]:
    """Return the offsets at which ``text`` must be cut so that each piece fits into ``width`` cells."""
    if text.isascii():
        return list(range(width, len(text), width))
    offsets: list[int] = []
    used = 0
    for at, character in enumerate(text):
        cells = cell_len(character)
        if used + cells > width and used:
            offsets.append(at)
            used = 0
        used += cells
    return offsets


def crop(text: str, width: int, cut: str) -> str:
    """Return ``text`` in at most ``width`` cells, ending with the sign ``cut`` where it was shortened."""
    if cell_len(text) <= width:
        return text
    room = max(width - cell_len(cut), 1)
    return text[: (fold(text, room) or [room])[0]].rstrip() + cut


def _find_breaks(line: str, width: int) -> list[int]:
    breaks: list[int] = []
    used = 0
    for unit in _UNIT.finditer(line):
        cells = cell_len(unit.group().rstrip())
        if used and used + cells > width:
            breaks.append(unit.start())
            used = 0
        if cells > width:
            inner = [unit.start() + offset for offset in fold(unit.group(), width)]
            breaks += inner
            used = cell_len(line[inner[-1] : unit.end()]) if inner else cells
        else:
            used += cell_len(unit.group())
    return breaks
