"""How an inspected script ended, where it did not end well: a few words for the headline, the rest below it."""

from __future__ import annotations

from judge.models.inspection import ScriptError
from judge.report.ink import Ink
from judge.report.page import Page
from judge.report.phrases import add_place, tell

EXPLAINED = ("exception", "syntax", "exit", "interrupted", "lost")
"""Kinds of ends of which there is more to say than the headline does."""


def name_end(ink: Ink, error: ScriptError) -> str:
    """Return an end in a few words. What Python has printed already, the message and the traceback, is not repeated."""
    is_text = error.kind == "exit" and not error.message.lstrip("-").isdigit()
    kind = "exit_text" if is_text else error.kind
    first_line = next(iter(error.message.splitlines()), "")
    return tell(ink, f"end_{kind}", type=ink.line(error.type), message=ink.line(first_line))


def add_end(page: Page, error: ScriptError, *, is_whole: bool) -> None:
    """Write where the script ended, and how far the report goes."""
    ink = page.ink
    if error.kind in EXPLAINED:
        message = ink.line(error.message) if error.kind == "lost" else ""
        page.add(tell(ink, f"ended_{error.kind}", type=ink.line(error.type), message=message), style="red")
    if error.file is not None:
        add_place(page, error.file, error.line or 0)
    # An interrupted script's end has said so.
    if not is_whole and error.kind != "interrupted":
        page.add(tell(ink, "partial"), style="yellow")
