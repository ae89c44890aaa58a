"""ARCHITECTURE.md is kept true by comparing it with the tree."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.architecture.source import Module

ENTRY = re.compile(r"^\| `(judge/(?:\w+/)*(?:\w+\.py)?)` \| (\S.*) \|$", re.MULTILINE)
MENTION = re.compile(r"`(judge/(?:\w+/)*(?:\w+\.py)?)`")


def shown_as(module: Module, root: Path) -> str:
    """Return a module as the page names it: a package by its folder, others by their file."""
    path: Path = module.path.relative_to(root)
    return f"{path.parent.as_posix()}/" if path.name == "__init__.py" else path.as_posix()


def test_the_page_has_one_line_for_every_module(root: Path, modules: tuple[Module, ...]) -> None:
    """Every module of the judge has exactly one row of the table, and no row names a module that is gone."""
    page = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = Counter(path for path, _ in ENTRY.findall(page))
    assert Counter(shown_as(module, root) for module in modules) == rows


def test_the_page_mentions_no_module_that_does_not_exist(root: Path, modules: tuple[Module, ...]) -> None:
    """A module that is named in running text exists too."""
    page = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    gone = set(MENTION.findall(page)) - {shown_as(module, root) for module in modules}
    assert set() == gone
