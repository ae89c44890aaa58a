"""The texts of a problem that a person reads."""

from __future__ import annotations

import re
from pathlib import Path

from judge.catalog.files import read_text
from judge.models.problem import Problem

_FIGURE = re.compile(r"!\[(?P<title>[^\]\n]*)\]\((?P<path>[\w.-]+)\)")


def statement(problem: Problem, language: str) -> str:
    """Return the problem's statement, in Markdown.

    Raises:
        BrokenProblem: the file has become unreadable since the problem was found.
    """
    text = read_text(problem.folder / _in_language("README", language), folder=problem.folder)
    return _locate_figures(text, problem.folder)


def explanation(problem: Problem, language: str) -> str:
    """Return the explanation of the reference solution, in Markdown.

    Raises:
        BrokenProblem: the file has become unreadable since the problem was found.
    """
    text = read_text(problem.reference_folder / _in_language("explanation", language), folder=problem.folder)
    return _locate_figures(text, problem.reference_folder)


def _locate_figures(text: str, folder: Path) -> str:
    """Return Markdown whose figures beside it are named by their whole path: it is read from anywhere."""
    return _FIGURE.sub(lambda match: f"![{match['title']}]({folder / match['path']})", text)


def _in_language(name: str, language: str) -> str:
    return f"{name}.zh.md" if language == "zh" else f"{name}.md"
