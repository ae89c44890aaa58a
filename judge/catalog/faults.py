"""Faults of problem folders, in the language of the caller."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from judge.errors import BrokenProblem
from judge.locale import choose_language, paths, say
from judge.locale.refusals import explain_refusal

MAX_SHOWN_CHARACTERS = 80
MAX_DECIMAL_BITS = 128


class FolderFault(BrokenProblem):
    """A rule that a problem folder breaks.

    Args:
        what: one sentence that names the thing.
        folder: the problem's folder, so that a lookup can tell which problem is broken.
        place: file, and line where it is known.
        remedy: one sentence that says what to do.
    """

    def __init__(self, what: str, *, folder: Path, place: str, remedy: str) -> None:
        super().__init__(what, place=place, remedy=remedy)
        self.folder = folder


def make_fault(
    rule: str, *, folder: Path, at: Path, line: int | None = None, remedy: str | None = None, **values: object
) -> FolderFault:
    """Return the fault for ``rule`` of ``catalog.toml``.

    Args:
        rule: name of the message; its remedy is ``<rule>_remedy``.
        folder: the problem's folder.
        at: file or folder where the fault lies.
        line: line in that file, from 1.
        remedy: name of another remedy.
        values: fill the placeholders of both messages.
    """
    language = choose_language(sys.argv[1:])
    place = show_path(at) if line is None else f"{show_path(at)}:{line}"
    return FolderFault(
        say(f"catalog.{rule}", language, **values),
        folder=folder,
        place=place,
        remedy=say(f"catalog.{remedy or rule + '_remedy'}", language, **values),
    )


def phrase(name: str) -> str:
    """Return a message of ``catalog.toml`` that stands inside another one."""
    return say(f"catalog.{name}", choose_language(sys.argv[1:]))


def explain(reason: OSError) -> str:
    """Return why the system refused, as a part of a sentence."""
    return explain_refusal(reason, choose_language(sys.argv[1:]))


def show(text: str) -> str:
    """Return text of a pack's author on one line, inert: control characters are escaped, long text is cut."""
    inert = _escape(text)
    return inert if len(inert) <= MAX_SHOWN_CHARACTERS else inert[: MAX_SHOWN_CHARACTERS - 1] + "…"


def show_value(value: object) -> str:
    """Return a single TOML value about as its author wrote it."""
    if isinstance(value, (str, bool)):
        return show(json.dumps(value, ensure_ascii=False))
    # Hexadecimal, because Python refuses to write giants in decimal.
    is_giant = isinstance(value, int) and value.bit_length() > MAX_DECIMAL_BITS
    return show(f"{value:#x}" if is_giant else str(value))


def show_path(path: Path) -> str:
    """Return a path as all texts for people show it, inert and never cut."""
    return _escape(paths.show_path(path))


def _escape(text: str) -> str:
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
