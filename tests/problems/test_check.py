"""Every problem of the repository, checked quickly: the whole ``check`` takes minutes a problem."""

from __future__ import annotations

import pytest

from judge.author.check import run_check
from judge.catalog.packs import discover
from judge.models.problem import Problem

CATALOG = discover()


def test_no_problem_is_broken() -> None:
    """All of them can be read."""
    assert () == CATALOG.faults


@pytest.mark.parametrize("problem", [pytest.param(one, id=one.name) for one in CATALOG.problems])
def test_a_quick_check_finds_nothing(problem: Problem) -> None:
    """The reference is accepted, the stub is wrong, and each wrong solution fails the tests that it names."""
    report = run_check([problem], quick=True, workers=2)
    assert [] == [f"{one.place}: {one.what.en}" for one in report.problems[0].findings]
