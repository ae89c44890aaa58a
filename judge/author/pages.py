"""Statement, hints and explanation: both languages are there and say something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from judge.author.findings import Finding, find
from judge.catalog.document import read_document
from judge.catalog.files import read_text
from judge.catalog.hints import read_hints
from judge.models.problem import Problem

CHINESE = re.compile("[\u4e00-\u9fff]")


def check_pages(problem: Problem) -> list[Finding]:
    """Return what is missing of the texts that a learner reads; that the files exist is the catalog's rule."""
    return [*_check_pages(problem), *_check_hints(problem)]


def has_chinese(text: str) -> bool:
    """Return whether there is any Chinese character in the text."""
    return CHINESE.search(text) is not None


def _check_pages(problem: Problem) -> Iterator[Finding]:
    for folder, stem in ((problem.folder, "README"), (problem.reference_folder, "explanation")):
        english, chinese = folder / f"{stem}.md", folder / f"{stem}.zh.md"
        for page in (english, chinese):
            if not _says_something(_read(page, problem)):
                yield find("page_empty", page, name=page.name)
        text = _read(chinese, problem)
        if _says_something(text) and not has_chinese(text):
            yield find("page_not_chinese", chinese, name=chinese.name, english=english.name)


def _says_something(text: str) -> bool:
    """Return whether anything but headings stands on a page."""
    return any(line.strip() and not line.startswith("#") for line in text.splitlines())


def _check_hints(problem: Problem) -> Iterator[Finding]:
    path = problem.folder / "hints.toml"
    hints = read_hints(problem)
    if not hints:
        yield find("no_hints", path)
    for at, hint in enumerate(hints):
        if not has_chinese(hint.zh):
            line = read_document(path, folder=problem.folder).line_of(("hint", at, "zh"))
            yield find("hint_not_chinese", path, line=line, number=at + 1)


def _read(path: Path, problem: Problem) -> str:
    return read_text(path, folder=problem.folder)
