"""Code that does not come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.child import SHOWN, TESTS, Report, run_child

MORE = TESTS + "\n\ndef test_later(solution):\n    pass\n"
TEST_S = 0.6
HELD = "import threading\nHELD = threading.Lock()\nHELD.acquire()"


def hang(tmp_path: Path, body: str, head: str = "", **request: object) -> Report:
    """Run a solution whose ``double`` has this body, for at most a little longer than its clock."""
    solution = f"{head}\ndef double(number):\n    {body}\n    return number * 2\n"
    return run_child(tmp_path, solution, MORE, test_s=TEST_S, patience_s=8.0, **request)  # type: ignore[arg-type]  # fields of the request


@pytest.mark.parametrize(
    ("body", "head", "said"),
    [
        pytest.param("while number >= 0: pass", "", "at line 3: `while number >= 0: pass`.", id="loop"),
        pytest.param("HELD.acquire()", HELD, "at line 5: `HELD.acquire()`.", id="lock"),
        pytest.param("time.sleep(60)", "import time", "at line 3: `time.sleep(60)`.", id="sleep"),
        pytest.param(
            "\n    while True:\n        try:\n            while True: pass\n        except TimeoutError: pass",
            "",
            "at line 6: `while True: pass`.",
            id="swallows exceptions",
        ),
    ],
)
def test_an_endless_test_times_out_with_its_line(tmp_path: Path, body: str, head: str, said: str) -> None:
    """The alarm interrupts Python and waiting; the session stops there."""
    report = hang(tmp_path, body, head)
    assert {"test_doubles": "timed_out"} == report.statuses
    assert ["finished", "done"] == report.kinds[-2:]
    found = report.diagnostic("test_doubles")
    assert ("timeout", SHOWN) == (found["kind"], found["frames"][-1]["file"])
    assert said in found["what"]["en"]
    report.validate()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("input()", id="input"),
        pytest.param("sys.stdin.read()", id="stdin"),
        pytest.param("sys.stdin.buffer.readline()", id="buffer"),
        pytest.param("next(iter(sys.stdin))", id="iteration"),
    ],
)
def test_waiting_for_the_keyboard_is_named(tmp_path: Path, body: str) -> None:
    """Reading standard input blocks, and the diagnostic says that no input comes."""
    found = hang(tmp_path, body, "import sys").diagnostic("test_doubles")
    assert f"Waits for keyboard input at line 3: `{body}`." == found["what"]["en"]
    assert found["look"]["en"].startswith("Tests give no input")


def test_an_alarm_swallowed_once_still_counts(tmp_path: Path) -> None:
    """A test that goes on after the alarm and passes is timed out all the same."""
    body = "\n    import time\n    if number == 2:\n        try: time.sleep(1)\n        except BaseException: pass"
    report = hang(tmp_path, body)
    assert {"test_doubles": "timed_out"} == report.statuses


def test_an_alarm_in_a_destructor_still_counts(tmp_path: Path) -> None:
    """Python prints and drops what a ``__del__`` raises."""
    head = "import time\nclass Slow:\n    def __del__(self): time.sleep(1)\n"
    report = hang(tmp_path, "Slow()", head)
    assert "timed_out" == report.outcome("test_doubles")["status"]
    assert "time.sleep(1)" in report.diagnostic("test_doubles")["what"]["en"]


def test_a_loop_in_c_leaves_its_stack(tmp_path: Path) -> None:
    """No alarm is heard inside C, but the stack with the learner's line is there before the parent kills."""
    solution = "import itertools\n\ndef double(number):\n    return any(itertools.repeat(False))\n"
    report = run_child(tmp_path, solution, test_s=TEST_S, patience_s=4.0)
    assert "started" == report.kinds[-1]
    assert report.exit_code < 0
    assert f'File "{SHOWN}", line 4 in double' in report.stack


def test_a_loop_in_c_at_import_leaves_its_stack(tmp_path: Path) -> None:
    """Loading has a clock of its own."""
    solution = "import itertools\nany(itertools.repeat(False))\n"
    report = run_child(tmp_path, solution, load_s=TEST_S, patience_s=4.0)
    assert ["hello"] == report.kinds
    assert f'File "{SHOWN}", line 2 in <module>' in report.stack


def test_a_loop_in_teardown_times_out(tmp_path: Path) -> None:
    """A failed test's teardown is on the clock too."""
    tests = """
        import pytest

        @pytest.fixture
        def late(solution):
            yield
            solution.double(0)

        def test_fails(late):
            pytest.fail("first")
    """
    report = run_child(tmp_path, "def double(number):\n    while True: pass\n", tests, test_s=TEST_S, patience_s=8.0)
    assert ["finished", "done"] == report.kinds[-2:]
    assert "wrong" == report.outcome("test_fails")["status"]


def test_a_test_in_time_leaves_no_stack(tmp_path: Path) -> None:
    """Nothing is written when no clock strikes."""
    assert "" == run_child(tmp_path).stack


def test_the_next_test_has_a_fresh_clock(tmp_path: Path) -> None:
    """Each test may use the whole of its time."""
    tests = """
        import time

        def test_one(solution): time.sleep(0.5)
        def test_two(solution): time.sleep(0.5)
        def test_three(solution): time.sleep(0.5)
    """
    report = run_child(tmp_path, tests=tests, test_s=0.8)
    assert ["accepted"] * 3 == list(report.statuses.values())
