"""How a test ends, by what it raised and where."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.harness.child import SHOWN, Report, run_child
from tests.harness.outcomes import SOLUTION, TESTS


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """One run of all the tests above."""
    return run_child(tmp_path_factory.mktemp("outcomes"), SOLUTION, TESTS, stub="")


EXPECTED = {
    "test_zero": ("runtime_error", "`zero` raised ZeroDivisionError: integer division or modulo by zero"),
    "test_hole": ("wrong", "Not written yet: `hole`."),
    "test_nested_hole": ("wrong", "Not written yet: `todo`."),
    "test_unpack": ("wrong", "The test could not use what your code gave it: TypeError: cannot unpack non-iterable"),
    "test_attribute": ("wrong", "The test could not use what your code gave it: AttributeError: 'NoneType' object"),
    "test_wrong_call": ("wrong", "The test could not use what your code gave it: TypeError: Block.__init__() takes 2"),
    "test_odd_answer": ("wrong", "The test could not use what your code gave it: TypeError: unsupported operand"),
    "test_plain_assert": ("wrong", "assert 3 == 512"),
    "test_assert_with_message": ("wrong", "the pool is wrong"),
    "test_assert_long": ("wrong", "assert ([1] * 100000) == None"),
    "test_own_assert": ("wrong", "An `assert` of your own failed: one is small"),
    "test_skips": ("runtime_error", "`skips` raised Skipped: no thanks"),
    "test_skips_from_a_string": ("runtime_error", "The test was ended by Skipped: no thanks"),
    "test_unittest_skip": ("runtime_error", "`unittest_skip` raised SkipTest: no thanks"),
    "test_xfails": ("runtime_error", "`xfails` raised XFailed: no thanks"),
    "test_fails": ("runtime_error", "`fails` raised Failed: no thanks"),
    "test_exits_pytest": ("runtime_error", "`exits_pytest` raised Exit: bye"),
    "test_exits": ("runtime_error", "`exits` raised SystemExit: 0"),
    "test_interrupts": ("runtime_error", "`interrupts` raised KeyboardInterrupt"),
    "test_deep": ("runtime_error", "`deep` raised RecursionError: maximum recursion depth exceeded"),
    "test_mute": ("runtime_error", "`mute` raised Mute: <str() raised RuntimeError>"),
    "test_shouts": ("runtime_error", "`shouts` raised ValueError: xxx"),
    "test_group": ("runtime_error", "`group` raised ValueError: first"),
    "test_end_of_file": ("runtime_error", "`reads_past_the_end` raised EOFError: EOF when reading a line"),
    "test_author_skips": ("not_judged", "not today"),
    "test_author_skipif": ("not_judged", "never"),
    "test_author_fails": ("wrong", "the author says no"),
    "test_callback": ("runtime_error", "`calls` raised TypeError: unsupported operand"),
    "test_callback_assert": ("wrong", "size is off"),
    "test_brackets": ("runtime_error", "`brackets` raised ValueError: [/bold] {x} \x1b[31m \ud800"),
    "test_fixture_of_the_author": ("runtime_error", "`zero` raised ZeroDivisionError"),
    "test_no_such_fixture": ("judge_error", "The test could not be run: FixtureLookupError"),
    "test_teardown": ("runtime_error", "`zero` raised ZeroDivisionError"),
    "test_broken_fixture": ("wrong", "The test could not use what your code gave it: OSError: no room"),
    "test_last": ("accepted", None),
}


def test_every_outcome_has_its_row(report: Report) -> None:
    """No test was lost on the way, whatever the one before it did."""
    assert list(EXPECTED) == list(report.statuses)
    assert "done" == report.kinds[-1]
    report.validate()


@pytest.mark.parametrize("test", EXPECTED)
def test_an_outcome_has_status_and_first_sentence(report: Report, test: str) -> None:
    """The status follows from who raised what; the first sentence names it."""
    status, said = EXPECTED[test]
    outcome = report.outcome(f"::{test}")
    assert status == outcome["status"]
    assert said is None or outcome["diagnostic"]["what"]["en"].startswith(said)


def frames_of(report: Report, test: str) -> list[tuple[str, str, str]]:
    """Return file, function and code of each shown frame."""
    return [(frame["file"], frame["function"], frame["code"]) for frame in report.diagnostic(f"::{test}")["frames"]]


def test_frames_are_the_tests_and_the_learners(report: Report) -> None:
    """Outermost first, with shown paths; pytest's are folded and counted."""
    expected = [("test_double.py", "test_zero", "solution.zero()"), (SHOWN, "zero", "return 1 // 0")]
    assert expected == frames_of(report, "test_zero")
    assert report.diagnostic("::test_zero")["folded"] > 5


def test_frames_of_a_deep_recursion_are_cut(report: Report) -> None:
    """A thousand frames become a few from either end."""
    found = report.diagnostic("::test_deep")
    assert 16 == len(found["frames"])
    assert found["folded"] > 900
    assert "`deep` calls itself over and over" in found["look"]["en"]


def test_a_huge_message_is_cut_and_says_so(report: Report) -> None:
    """A megabyte of message does not travel."""
    found = report.diagnostic("::test_shouts")
    assert found["is_cut"]
    assert len(found["what"]["en"]) < 2000
    assert found["what"]["en"].endswith("[… +999000 …]")


def test_the_value_that_could_not_be_used_is_shown(report: Report) -> None:
    """Names in the test's line stand with their values, and None is explained."""
    found: dict[str, Any] = report.diagnostic("::test_attribute")
    assert "block = None" == found["actual"]
    assert "does every path of the function end with a `return`?" in found["look"]["en"]


def test_a_value_without_a_repr_is_named_by_its_type(report: Report) -> None:
    """An object whose repr raises does not hide the failure."""
    assert re.fullmatch(r"odd = <Odd instance at 0x[0-9a-f]+>", report.diagnostic("::test_odd_answer")["actual"])


def test_a_plain_assert_shows_both_sides(report: Report) -> None:
    """The constant side of an equality is what was expected."""
    found = report.diagnostic("::test_plain_assert")
    assert ("512", "3") == (found["expected"], found["actual"])


def test_a_skip_by_the_author_says_why(report: Report) -> None:
    """Its diagnostic is of the kind ``skipped``."""
    assert "skipped" == report.diagnostic("::test_author_skips")["kind"]
