"""What a terminal can show: its language, its characters, and the colours of the statuses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from judge.locale import say
from judge.locale.paths import show_path
from judge.models.base import Text as BothLanguages
from judge.models.status import Status
from judge.report.inert import plain

GLYPHS = {
    "passed": "✓√+",
    "failed": "✗×x",
    "skipped": "○-",
    "dot": "·-",
    "rule": "─-",
    "bar": "│|",
    "cut": "…~",
}
"""Each sign with its substitutes, best first; the last one is ASCII."""

SUBSTITUTES = dict(zip("█▓▒░▌▐■□─━│┃┌┐└┘├┤┬┴┼→←↑↓×≤≥–—…‘’“”·", "###.|||.--||+++++++++><^vx<>--~''\"\".", strict=True))
"""What drawings and typography become where the encoding lacks them: one column each, so that they stay aligned."""

STYLES = {
    Status.ACCEPTED: "green",
    Status.NOT_JUDGED: "yellow",
    Status.JUDGE_ERROR: "magenta",
}
"""Colour of a status; the others are red. Colour never says what words do not say as well."""


@dataclass(frozen=True)
class Ink:
    """Language and encoding of one rendering.

    Args:
        wanted_language: ``"en"`` or ``"zh"``.
        encoding: of the stream that is written to.
        here: the folder from which paths are seen; without one they stay as they are recorded.
    """

    wanted_language: str
    encoding: str
    here: Path | None = None

    @cached_property
    def language(self) -> str:
        """The wanted language; English where the encoding has no Chinese."""
        return self.wanted_language if self.can_show("通过") else "en"

    def can_show(self, text: str) -> bool:
        """Return whether the encoding has every character of ``text``."""
        try:
            text.encode(self.encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def clean(self, text: str) -> str:
        """Return ``text``, inert, with an escape for each character that the encoding lacks."""
        inert = plain(text)
        if self.can_show(inert):
            return inert
        simple = "".join(
            SUBSTITUTES.get(character, character) if not self.can_show(character) else character for character in inert
        )
        try:
            return simple.encode(self.encoding, "backslashreplace").decode(self.encoding)
        except LookupError:
            return simple.encode("ascii", "backslashreplace").decode("ascii")

    def line(self, text: str) -> str:
        """Return ``text`` cleaned, on one line: runs of white space become one space."""
        return " ".join(self.clean(text).split())

    def path(self, path: str) -> str:
        """Return a recorded path as its reader sees it; what is no absolute path is only cleaned."""
        return self.line(show_path(path, self.here) if self.here and path.startswith("/") else path)

    def read(self, text: BothLanguages) -> str:
        """Return a text of both languages in the language shown, cleaned."""
        return self.clean(text.in_language(self.language))

    def say(self, name: str, **values: object) -> str:
        """Return the message ``report.name``; the values are expected to be clean."""
        return say(f"report.{name}", self.language, **values)

    def glyph(self, name: str) -> str:
        """Return the best sign of that name which the encoding has."""
        return next(sign for sign in GLYPHS[name] if sign.isascii() or self.can_show(sign))

    def mark(self, status: Status) -> str:
        """Return the sign of a status."""
        return self.glyph({Status.ACCEPTED: "passed", Status.NOT_JUDGED: "skipped"}.get(status, "failed"))


def style_of(status: Status) -> str:
    """Return the colour of a status."""
    return STYLES.get(status, "red")
