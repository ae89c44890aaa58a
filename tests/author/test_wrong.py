"""Wrong solutions and who catches them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge.author.bench import Bench, Key
from judge.author.wrong import is_named, judge_wrong, read_wrong
from judge.models.problem import Problem
from tests.author.editing import brief, edit

Ignore = Callable[[int, int], None]
NAME = "wrong_adds_one.py"


def test_a_wrong_solution_that_is_caught_as_it_says_is_fine(bench: Bench, key: Key, ignore: Ignore) -> None:
    """The named test fails, with a diagnostic."""
    solutions, findings = read_wrong(bench.problem)
    assert [] == findings
    assert [("test_solution.py::test_a_list_is_doubled",)] == [one.catchers for one in solutions]
    assert [] == judge_wrong(bench, solutions, key, ignore)
    assert [] == judge_wrong(bench, solutions, key, ignore, named_only=True)


def test_a_problem_without_wrong_solutions_is_found(problem: Problem) -> None:
    """Tests that were never seen to fail prove nothing."""
    (problem.reference_folder / NAME).unlink()
    assert [("no_wrong", "901_double", None)] == brief(read_wrong(problem)[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""Adds one."""\n', [("wrong_no_catcher", NAME, 1)]),
        ('"""Caught by: test_solution.py::test_x"""\n', [("wrong_unexplained", NAME, 1)]),
        ("x = 1\n", [("wrong_unexplained", NAME, 1), ("wrong_no_catcher", NAME, 1)]),
        ("x = 1\ny = = 2\n", [("no_program", NAME, 2)]),
    ],
    ids=["no_catcher", "no_mistake", "no_docstring", "no_program"],
)
def test_a_wrong_solution_must_say_what_is_wrong_and_who_catches_it(
    problem: Problem, text: str, expected: list[tuple[str, str, int]]
) -> None:
    """Its docstring names the mistake and the test."""
    (problem.reference_folder / NAME).write_text(text, encoding="utf-8")
    assert expected == brief(read_wrong(problem)[1])


@pytest.mark.parametrize(
    ("old", "new", "expected", "told"),
    [
        ("number + 1", "number * 2", ("wrong_accepted", NAME, None), "no required test"),
        ("test_a_list_is_doubled", "test_a_counter_adds_up", ("wrong_not_caught", NAME, 3), "test_fresh_numbers"),
        ("test_a_list_is_doubled", "test_a_list_is_tripled", ("wrong_no_such_test", NAME, 3), "no such test"),
        ("def double(", "def twice(", ("wrong_not_loaded", NAME, None), "double"),
    ],
    ids=["accepted", "by_another", "no_such_test", "not_loaded"],
)
def test_a_wrong_solution_that_is_not_caught_as_it_says_is_found(
    bench: Bench, key: Key, ignore: Ignore, old: str, new: str, expected: tuple[str, str, int | None], told: str
) -> None:
    """Accepted, caught by another test only, by a test that is not there, or refused before any test ran."""
    edit(bench.problem.reference_folder / NAME, old, new)
    solutions, _ = read_wrong(bench.problem)
    findings = judge_wrong(bench, solutions, key, ignore)
    assert [expected] == brief(findings)
    assert told in findings[0].what.en


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("number + 1", "number * 2", "wrong_uncaught"),
        ("test_a_list_is_doubled", "test_a_counter_adds_up", "wrong_uncaught"),
        ("test_a_list_is_doubled", "test_a_list_is_tripled", "wrong_no_such_test"),
    ],
    ids=["accepted", "by_another", "no_such_test"],
)
def test_the_named_tests_alone_find_most_of_it(
    bench: Bench, key: Key, ignore: Ignore, old: str, new: str, rule: str
) -> None:
    """In a quick check, nothing is said of tests that did not run."""
    edit(bench.problem.reference_folder / NAME, old, new)
    solutions, _ = read_wrong(bench.problem)
    assert [rule] == [one.rule for one in judge_wrong(bench, solutions, key, ignore, named_only=True)]


def test_a_run_that_ends_before_the_named_test_does_not_pass_it(bench: Bench, key: Key, ignore: Ignore) -> None:
    """What was not reached says nothing; how the run ended is told."""
    path = bench.problem.reference_folder / NAME
    edit(path, "return [number + 1 for number in numbers]", "import os; os._exit(3)")
    edit(path, "test_a_list_is_doubled", "test_a_counter_adds_up")
    solutions, _ = read_wrong(bench.problem)
    (finding,) = judge_wrong(bench, solutions, key, ignore)
    assert "wrong_not_reached" == finding.rule
    assert "exit code 3" in finding.what.en


def test_a_name_stands_for_all_its_parameters() -> None:
    """A parametrised test is meant by its name alone, but not by a longer name."""
    assert is_named("test_a.py::test_it[1-2]", "test_a.py::test_it")
    assert is_named("test_a.py::test_it[1-2]", "test_a.py::test_it[1-2]")
    assert not is_named("test_a.py::test_it_too", "test_a.py::test_it")
