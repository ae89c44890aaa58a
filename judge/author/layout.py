"""Files that belong to no problem: a misspelled name is never read, and nobody would notice."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from judge.author.findings import Finding, find
from judge.catalog.places import is_stray
from judge.models.problem import Problem

PROBLEM_FILES = (
    "problem.toml",
    "README.md",
    "README.zh.md",
    "hints.toml",
    "stub.py",
    "test_*.py",
    "conftest.py",
    "support_*.py",
)
PROBLEM_FOLDERS = ("goldens",)
REFERENCE_FILES = ("solution.py", "explanation.md", "explanation.zh.md", "wrong_*.py", "survivors.toml")
PICTURES = (".svg", ".png")
"""Belong there when a page shows them."""


def find_strays(problem: Problem) -> list[Finding]:
    """Return a finding for each file or folder that no rule gives a meaning."""
    strays = [
        *_strays_in(problem.folder, PROBLEM_FILES, PROBLEM_FOLDERS),
        *_strays_in(problem.reference_folder, REFERENCE_FILES, ()),
    ]
    return [_explain(path, known) for path, known in strays]


def find_orphans(problems: Sequence[Problem]) -> list[Finding]:
    """Return a finding for each reference folder, in the packs of these problems, that has no problem."""
    packs = dict.fromkeys((problem.folder.parent, problem.reference_folder.parent) for problem in problems)
    return [
        find("orphan", folder, problem=f"{home.name}/{folder.name}")
        for home, references in packs
        for folder in _list_own(references)
        if folder.is_dir() and not (home / folder.name).is_dir()
    ]


def _strays_in(folder: Path, files: Sequence[str], folders: Sequence[str]) -> Iterator[tuple[Path, Sequence[str]]]:
    pages = "".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md") if page.is_file())
    for path in _list_own(folder):
        known = folders if path.is_dir() else files
        is_shown = path.suffix in PICTURES and path.name in pages
        if not is_shown and not any(fnmatchcase(path.name, pattern) for pattern in known):
            yield path, (*files, *(f"{name}/" for name in folders))


def _list_own(folder: Path) -> Iterable[Path]:
    """Return what authors put there: tools' leftovers are not theirs."""
    return (path for path in sorted(folder.iterdir()) if not is_stray(path.name))


def _explain(path: Path, known: Sequence[str]) -> Finding:
    name = f"{path.name}/" if path.is_dir() else path.name
    close = difflib.get_close_matches(name, known, 1, 0.7)
    if close:
        return find("stray_close", path, name=name, close=close[0])
    return find("stray", path, name=name, known=", ".join(known))
