"""Tests that use hypothesis."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.child import Report, run_child

TESTS = """
    from hypothesis import given, settings, strategies as st

    @given(st.lists(st.integers()), st.floats())
    @settings(max_examples=60)
    def test_property(solution, evidence, expect, rng, numbers, fraction):
        evidence.exact("seen", [numbers, repr(fraction), rng.random()])
        for number in numbers:
            expect.equal(solution.double(number), number * 2, (f"double({number}) is off", "不对"))
"""


NUMBERS = """
    from hypothesis import given, strategies as st

    @given(st.integers(1))
    def test_property(solution, expect, number):
        expect.equal(solution.double(number), number * 2, ("off", "不对"))
"""


def run(tmp_path: Path, name: str, solution: str, **request: object) -> Report:
    """Run in a folder of its own."""
    folder = tmp_path / name
    folder.mkdir()
    return run_child(folder, solution, TESTS, **request)  # type: ignore[arg-type]  # fields of the request


def test_subject_and_oracle_see_the_same_examples(tmp_path: Path) -> None:
    """Examples depend on the seed alone, not on the constants in the solution."""
    one = run(tmp_path, "one", "def double(number):\n    return number * 2\n")
    constants = "X = (987654, 123456.5, 'needle', 4242424242)\n"
    existing = tmp_path / "existing.py"
    existing.write_text(f"{constants}def double(number):\n    return number + number\n", encoding="utf-8")
    other = run(tmp_path, "other", existing.read_text(encoding="utf-8"), shown_path=str(existing))
    third = run(tmp_path, "third", "def double(number):\n    return number * 2\n", seed=8)
    seen = [[record["value"] for record in report.of_kind("evidence")] for report in (one, other, third)]
    assert len(seen[0]) >= 60
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]


def test_the_falsifying_example_is_the_picture(tmp_path: Path) -> None:
    """What hypothesis found stands below the message, without our fixtures."""
    report = run(tmp_path, "wrong", "def double(number):\n    return number * 2 if number < 1000 else 0\n")
    found = report.diagnostic()
    assert ("wrong", "mismatch") == (report.outcome()["status"], found["kind"])
    assert "double(1000) is off" == found["what"]["en"]
    assert ("2000", "0") == (found["expected"], found["actual"])
    assert "numbers=[1000]," in found["picture"]["en"]
    assert "solution=" not in found["picture"]["en"]
    assert "expect=" not in found["picture"]["en"]


def test_several_failures_give_the_first(tmp_path: Path) -> None:
    """An exception group of hypothesis does not hide what failed."""
    solution = "def double(number):\n    return 1 // 0 if number > 5 else (0 if number < -5 else number * 2)\n"
    report = run(tmp_path, "two", solution)
    assert report.outcome()["status"] in ("runtime_error", "wrong")
    assert "numbers=" in report.diagnostic()["picture"]["en"]
    assert "practice/9_double.py" == report.diagnostic()["frames"][-1]["file"] or report.diagnostic()["expected"]


def test_shrinking_does_not_outlast_the_clock(tmp_path: Path) -> None:
    """A slow wrong solution is wrong, not timed out."""
    solution = "import time\ndef double(number):\n    time.sleep(0.02)\n    return 0\n"
    report = run(tmp_path, "slow", solution, test_s=6.0)
    assert "wrong" == report.outcome()["status"]
    assert "numbers=[" in report.diagnostic()["picture"]["en"]
    assert report.outcome()["duration_s"] < 5


def test_a_failure_before_the_clock_strikes_stands(tmp_path: Path) -> None:
    """When the alarm ends the search, the failing example that was found is told."""
    solution = "import time\ndef double(number):\n    time.sleep(0.3)\n    return 0\n"
    report = run_child(tmp_path, solution, NUMBERS, test_s=1.5)
    assert "wrong" == report.outcome()["status"]
    assert ["finished", "done"] == report.kinds[-2:]


def test_a_slow_solution_is_no_health_check(tmp_path: Path) -> None:
    """Hypothesis does not complain of slowness: the judge has clocks."""
    tests = """
        import time
        from hypothesis import given, strategies as st

        @given(st.integers())
        def test_property(solution, number):
            time.sleep(0.02)
    """
    folder = tmp_path / "slow"
    folder.mkdir()
    assert {"test_property": "accepted"} == run_child(folder, tests=tests, test_s=20).statuses


@pytest.mark.parametrize("body", ["while True: pass", "raise KeyboardInterrupt"])
def test_examples_do_not_swallow_the_end(tmp_path: Path, body: str) -> None:
    """A loop times out, and a Ctrl-C of the learner's is theirs, inside an example too."""
    report = run_child(tmp_path, f"def double(number):\n    {body}\n", NUMBERS, test_s=1.0)
    assert {"test_property": "timed_out" if "while" in body else "runtime_error"} == report.statuses


def test_the_judges_own_constants_are_no_examples(tmp_path: Path) -> None:
    """Hypothesis tries the constants of code under test; a checkout of the judge is not that."""
    tests = """
        from hypothesis import given, strategies as st
        from hypothesis.internal.conjecture import providers

        @given(st.integers())
        def test_property(number):
            pass

        def test_constants(evidence):
            evidence.exact("constants", len(providers._get_local_constants()))
    """
    (evidence,) = run_child(tmp_path, tests=tests).of_kind("evidence")
    assert 0 == evidence["value"]
