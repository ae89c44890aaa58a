"""Every problem of the repository, checked quickly: the whole ``check`` takes minutes a problem."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from judge import locale
from judge.author.check import run_check
from judge.catalog.packs import discover
from judge.models.problem import Problem

CATALOG = discover()


def test_no_problem_is_broken() -> None:
    """All of them can be read."""
    assert () == CATALOG.faults


def test_every_topic_has_a_name_in_both_languages() -> None:
    """A key that ``list`` does not know would stand there as it is, in Chinese too."""
    known = tomllib.loads((Path(locale.__file__).parent / "topics.toml").read_text(encoding="utf-8"))
    assert set() == {problem.topic for problem in CATALOG.problems} - known.keys()


@pytest.mark.parametrize("problem", [pytest.param(one, id=one.name) for one in CATALOG.problems])
def test_a_quick_check_finds_nothing(problem: Problem) -> None:
    """The reference is accepted, the stub is wrong, and each wrong solution fails the tests that it names."""
    (checked,) = run_check([problem], quick=True, workers=2).problems
    assert [] == [f"{one.place}: {one.what.en}" for one in checked.findings]
    assert [] == [reason.en for reason in checked.unproven], "what was skipped is not proven"
