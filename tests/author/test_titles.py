"""The test files as text."""

from __future__ import annotations

from judge.author.titles import check_tests, read_test_functions
from judge.models.problem import Problem
from tests.author.editing import brief, edit


def test_the_tests_of_a_whole_problem_are_fine(problem: Problem) -> None:
    """Every test of the small pack has both titles."""
    assert [] == check_tests(problem)


def test_a_test_without_titles_is_found(problem: Problem) -> None:
    """The docstring is the name that a learner sees; both languages are asked for."""
    edit(problem.folder / "test_solution.py", "    zh: 计数器返回到目前为止的总和。\n", "")
    edit(problem.folder / "test_solution.py", "Every number of the list is doubled.", "")
    expected = [("title_no_english", "test_solution.py", 4), ("title_no_chinese", "test_solution.py", 23)]
    assert expected == brief(check_tests(problem))


def test_tests_in_classes_are_tests_too(problem: Problem) -> None:
    """A method of a test class has an id with the class in it, and needs titles."""
    text = "class TestMore:\n    def helper(self): ...\n    def test_it(self):\n        pass\n"
    (problem.folder / "test_more.py").write_text(text, encoding="utf-8")
    assert "test_more.py::TestMore::test_it" == read_test_functions(problem)[0].id
    expected = [("title_no_english", "test_more.py", 3), ("title_no_chinese", "test_more.py", 3)]
    assert expected == brief(check_tests(problem))


def test_tests_must_import_neither_judge_nor_reference(problem: Problem) -> None:
    """What the tests import is in the learner's process."""
    text = "import os, judge.models\nfrom reference import solution\nimport judgement\n"
    (problem.folder / "conftest.py").write_text(text, encoding="utf-8")
    expected = [("test_imports", "conftest.py", 1), ("test_imports", "conftest.py", 2)]
    assert expected == brief(check_tests(problem))


def test_a_test_file_that_is_no_program_is_found(problem: Problem) -> None:
    """The line of the syntax error is told."""
    (problem.folder / "test_more.py").write_text("\ndef test_it(:\n", encoding="utf-8")
    findings = check_tests(problem)
    assert [("no_program", "test_more.py", 2)] == brief(findings)
    assert "invalid syntax" in findings[0].what.en
