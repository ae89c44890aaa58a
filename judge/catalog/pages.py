"""The texts of a problem that a person reads."""

from __future__ import annotations

from judge.catalog.files import read_text
from judge.models.problem import Problem


def statement(problem: Problem, language: str) -> str:
    """Return the problem's statement, in Markdown.

    Raises:
        BrokenProblem: the file has become unreadable since the problem was found.
    """
    return read_text(problem.folder / _in_language("README", language), folder=problem.folder)


def explanation(problem: Problem, language: str) -> str:
    """Return the explanation of the reference solution, in Markdown.

    Raises:
        BrokenProblem: the file has become unreadable since the problem was found.
    """
    return read_text(problem.reference_folder / _in_language("explanation", language), folder=problem.folder)


def _in_language(name: str, language: str) -> str:
    return f"{name}.zh.md" if language == "zh" else f"{name}.md"
