r"""Make a learner's text inert: what can't be seen or would act on a terminal becomes a visible escape.

Every rendering passes every text through :func:`plain`, the author's texts too: which of them quote the
learner is not knowable here.
"""

from __future__ import annotations

import unicodedata

KEPT = "\n\t\u3000"
"""Not printable in Python's sense, and wanted: line ends, tabs and the Chinese full-width space."""

IGNORABLE = (
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian selectors
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0xE0100, 0xE01EF),  # variation selectors
)
"""Printable by category, yet drawn as nothing: two texts that look equal could differ in them."""

MAX_MARKS = 3
"""Combining marks kept on one character; a taller pile would cover the lines around it."""


def plain(text: str) -> str:
    r"""Return ``text`` with every control, invisible, private or unpaired character as ``\x1b`` or ``\u202e``.

    Line ends and tabs stay; ``\r\n`` becomes ``\n``. The result holds only characters that are legal in
    UTF-8 and in XML 1.0.
    """
    shown = text.replace("\r\n", "\n").translate(_SHOWN)
    return shown if shown.isascii() else _thin_marks(shown)


def escape(character: str) -> str:
    r"""Return the escape by which Python would write ``character``, for example ``\r`` or ``\u200b``."""
    code = ord(character)
    if character in "\r\n\t":
        return {"\r": r"\r", "\n": r"\n", "\t": r"\t"}[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _is_seen(character: str) -> bool:
    code = ord(character)
    if character in KEPT:
        return True
    return character.isprintable() and not any(first <= code <= last for first, last in IGNORABLE)


class _Shown(dict[int, str]):
    """What each character is shown as, filled in on demand."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = character if _is_seen(character) else escape(character)
        return self[code]


_SHOWN = _Shown()


def _thin_marks(text: str) -> str:
    """Escape the combining marks beyond the first few of a pile."""
    parts: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        parts.append(character if marks <= MAX_MARKS else escape(character))
    return "".join(parts)
