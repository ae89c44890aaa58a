"""Parts of what ``inspect`` says: messages, counts, times, and lines of code."""

from __future__ import annotations

import linecache
import os

from judge.locale import say
from judge.report.ink import Ink
from judge.report.page import Page


def tell(ink: Ink, message: str, /, **values: object) -> str:
    """Return a message of the domain ``inspection``; the values are expected to be clean."""
    return say(f"inspection.{message}", ink.language, **values)


def name_place(ink: Ink, file: str, number: int) -> str:
    """Return where a line of code stands, as its reader sees it: ``../train.py:3`` where that is shorter."""
    shown = ink.path(file)
    if ink.here is not None and file.startswith("/"):
        shown = min(shown, ink.line(os.path.relpath(file, ink.here)), key=len)
    return f"{shown}:{number}" if number else shown


def add_place(page: Page, file: str, number: int, lead: str = "") -> None:
    """Write a line of code: where it stands, and its text."""
    ink = page.ink
    code = ink.line(linecache.getline(file, number)) if number else ""
    page.add_cropped(f"{lead}{name_place(ink, file, number)}  {code}".rstrip(), style="bold", indent=2)


def format_us(microseconds: float) -> str:
    """Return a time with a unit that suits it."""
    for limit, unit in ((1e3, "us"), (1e6, "ms")):
        if microseconds < limit:
            return f"{microseconds / (limit / 1e3):.3g} {unit}"
    return f"{microseconds / 1e6:.3g} s"
