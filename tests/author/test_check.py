"""The whole check of a problem."""

from __future__ import annotations

import sys

import pytest

from judge.author.bench import Bench, Candidate, Key
from judge.author.check import run_check
from judge.errors import BrokenProblem, MissingTool
from judge.models.base import Text
from judge.models.problem import Problem
from judge.models.status import Status
from tests.author.editing import brief, edit


def test_a_sound_problem_is_green(problem: Problem) -> None:
    """The small pack passes, and says how far it has got on the way."""
    steps: list[tuple[str, int, int]] = []

    def listen(_problem: Problem, step: Text, done: int, count: int) -> None:
        steps.append((step.en, done, count))

    report = run_check([problem], mutants=False, on_progress=listen)
    (checked,) = report.problems
    assert () == checked.findings
    assert (3, 1, 12, None) == (checked.tests, checked.wrong, checked.trivial, checked.mutation)
    assert ("reference", 0, 1) == steps[0]
    assert ("trivial answers", 12, 12) == steps[-1]
    assert "Not tried: mutants." == checked.untried.en
    assert 0 == report.exit_code


def test_a_quick_check_tries_less_and_says_so(problem: Problem) -> None:
    """One seed, and the named tests: what is left out stands in the report."""
    (checked,) = run_check([problem], quick=True).problems
    assert () == checked.findings
    assert (3, 1, 0, None) == (checked.tests, checked.wrong, checked.trivial, checked.mutation)
    assert "trivial answers, mutants" in checked.untried.en


def test_nothing_runs_against_a_reference_that_is_refused(problem: Problem) -> None:
    """The files are still looked at, and what was not tried is said."""
    edit(problem.reference, "[2 * number", "[3 * number")
    (problem.folder / "draft.txt").touch()
    report = run_check([problem], mutants=False, faults=[BrokenProblem("It is broken.", place="902")])
    (checked,) = report.problems
    assert [("stray", "draft.txt", None), ("reference_refused", "solution.py", None)] == brief(checked.findings)
    assert "not tried" in checked.unproven[0].en
    assert ("902: It is broken.",) == report.broken
    assert 1 == report.exit_code


def test_nothing_runs_where_a_test_file_is_no_program(problem: Problem) -> None:
    """Pytest could not even collect it."""
    edit(problem.folder / "test_solution.py", "def test_a_list_is_doubled(", "def (")
    (checked,) = run_check([problem], mutants=False).problems
    assert ["no_program"] == [finding.rule for finding in checked.findings]
    assert 0 == checked.tests


def test_a_missing_cosmic_ray_is_told_before_anything_runs(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after minutes of other work."""
    monkeypatch.setitem(sys.modules, "cosmic_ray.mutating", None)
    with pytest.raises(MissingTool):
        run_check([problem], on_progress=lambda *_: pytest.fail("something ran"))


def test_an_interrupt_ends_all_runs(bench: Bench, key: Key) -> None:
    """Runs that have started are ended at once, the others never start."""
    endless = Candidate("solution.py", b"import time\nfor _ in range(1000): time.sleep(1)\n")
    quick = Candidate("solution.py", b"def (\n")

    def interrupt(_done: int, _count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.judge_all([endless, quick, endless, endless], key, interrupt)


def test_verdicts_come_in_the_order_of_the_candidates(bench: Bench, key: Key) -> None:
    """Whichever of them is done first."""
    sound = Candidate("solution.py", bench.problem.reference.read_bytes())
    broken = Candidate("solution.py", b"def (\n")
    verdicts = bench.judge_all([sound, broken, sound], key, lambda _done, _count: None)
    assert [Status.ACCEPTED, Status.COMPILE_ERROR, Status.ACCEPTED] == [verdict.status for verdict in verdicts]
