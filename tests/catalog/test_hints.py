"""Hints and pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.catalog.hints import examine_hints, read_hints
from judge.catalog.manifest import read_problem
from judge.catalog.pages import explanation, statement
from judge.errors import BrokenProblem
from judge.models.base import Text
from tests.catalog.packing import write_problem


def test_hints_come_in_the_order_of_the_file(pack: Path) -> None:
    """From the gentlest to the plainest."""
    problem = read_problem(write_problem(pack), pack / "reference")
    assert (Text(en="Look.", zh="看。"), Text(en="Look closer.", zh="再看。")) == read_hints(problem)


@pytest.mark.parametrize(
    ("content", "place", "words"),
    [
        pytest.param("", "", "`hint` is missing", id="empty"),
        pytest.param('[hint]\nen = "a"\n', ":1", "in double brackets, but it is a table", id="single-brackets"),
        pytest.param('[[hint]]\nen = "a"\n', ":1", "`hint #1.zh` is missing", id="no-chinese"),
        pytest.param('[[hint]]\nen = "a"\nzh = ""\n', ":3", "`hint #1.zh` must be", id="blank"),
        pytest.param('[[hint]]\nen = 5\nzh = "甲"\n', ":2", "but it is 5", id="number"),
        pytest.param('[[hints]]\nen = "a"\nzh = "甲"\n', ":1", "Did you mean `hint`?", id="plural"),
        pytest.param('[[hint]]\nen = "a"\nzh = "甲"\nzhh = "乙"\n', ":4", "Did you mean `zh`?", id="unknown"),
        pytest.param('en = "a"\n[[hint]]\nen = "a"\nzh = "甲"\n', ":1", "belongs to the table `hint`", id="outside"),
        pytest.param("[[hint]\n", ":1", "not valid TOML", id="syntax"),
    ],
)
def test_malformed_hints_name_the_line(pack: Path, content: str, place: str, words: str) -> None:
    """The fault among them is one that a beginner can mend."""
    _, faults = examine_hints(write_problem(pack, files={"hints.toml": content}))
    fitting = [str(fault) for fault in faults if words in str(fault)]
    assert 1 == len(fitting)
    assert fitting[0].startswith(f"pack/problems/901_ring/hints.toml{place}: ")


def test_hints_that_break_later_raise(pack: Path) -> None:
    """A file may be edited between the list and the hint."""
    problem = read_problem(write_problem(pack), pack / "reference")
    (problem.folder / "hints.toml").unlink()
    with pytest.raises(BrokenProblem, match=r"hints\.toml is missing"):
        read_hints(problem)


def test_statement_and_explanation_come_in_the_language(pack: Path) -> None:
    """Each has a file a language."""
    problem = read_problem(write_problem(pack), pack / "reference")
    assert ("# A ring\n", "# 环\n") == (statement(problem, "en"), statement(problem, "zh"))
    assert ("It turns.\n", "它会转。\n") == (explanation(problem, "en"), explanation(problem, "zh"))
