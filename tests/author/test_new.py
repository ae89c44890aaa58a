"""A new problem."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.author.check import run_check
from judge.author.new import create_problem
from judge.catalog.packs import discover
from judge.errors import JudgeFault, UsageError
from judge.models.problem import Problem


def find_new(root: Path, number: int) -> Problem:
    """Return the problem with this number in a pack."""
    return next(problem for problem in discover([root]).problems if problem.number == number)


def test_a_new_problem_is_whole_and_green_at_once(tmp_path: Path) -> None:
    """Everything that check asks for is there, and every mutant of the reference is killed."""
    folder = create_problem(99_001, "pinned_ring", tmp_path)
    assert tmp_path / "problems" / "99001_pinned_ring" == folder
    problem = find_new(tmp_path, 99_001)
    assert ("Pinned ring", "新题目：pinned ring") == (problem.title.en, problem.title.zh)
    report = run_check([problem], workers=2)
    assert [] == [finding.what.en for finding in report.problems[0].findings]
    assert report.problems[0].mutation is not None
    assert () == report.problems[0].mutation.survivors
    assert 0 == report.exit_code


@pytest.mark.parametrize(
    ("number", "slug", "told"),
    [
        (0, "ring", "1 to 99999"),
        (100_000, "ring", "1 to 99999"),
        (99_001, "Ring", "small letters"),
        (99_001, "../ring", "small letters"),
        (99_001, "", "small letters"),
    ],
    ids=["zero", "too_large", "capital", "path", "empty"],
)
def test_what_can_name_no_problem_is_refused(tmp_path: Path, number: int, slug: str, told: str) -> None:
    """Nothing is written then."""
    with pytest.raises(UsageError, match=told):
        create_problem(number, slug, tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_a_taken_number_is_refused_and_a_free_one_told(tmp_path: Path) -> None:
    """Also where only a reference folder is left of the problem that had it."""
    (tmp_path / "problems" / "99001_old").mkdir(parents=True)
    (tmp_path / "reference" / "99002_gone").mkdir(parents=True)
    with pytest.raises(UsageError, match="for example 99003"):
        create_problem(99_001, "ring", tmp_path)


def test_a_problem_that_can_not_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    """Half a problem would be a broken one."""
    (tmp_path / "reference").touch()
    with pytest.raises(JudgeFault, match="could not be written"):
        create_problem(99_001, "ring", tmp_path)
    assert [] == list((tmp_path / "problems").iterdir())
