"""Solutions that would bring a careless harness down."""

from __future__ import annotations

import pytest

from tests.harness.child import TESTS, Report, run_child

SOLUTION = """
import os, shutil, sys, threading, warnings

class Endless:
    def __repr__(self):
        while True:
            pass

class Liar(Exception):
    @property
    def __class__(self):
        raise RuntimeError("no class")

class Exit(BaseException):
    pass

def raises_liar():
    raise Liar("x")

def raises_base():
    raise Exit("x")

def removes_its_folder():
    shutil.rmtree(os.getcwd())

def breaks_stdout():
    sys.stdout.close()
    sys.stdout = object()

def prints_surrogates():
    print("\\ud800 块 \\x00")
    sys.stdout.buffer.write(b"\\xff raw\\n")

def fails_in_a_thread():
    thread = threading.Thread(target=lambda: 1 // 0)
    thread.start()
    thread.join()

def warns():
    warnings.warn("think again")

def breaks_builtins():
    import builtins
    builtins.print = builtins.len = builtins.isinstance = None

def ignores_alarms():
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

def answers_much():
    return [[0] * 1000] * 10_000

def notes():
    error = ValueError("x")
    error.__notes__ = [1, "see here", None]
    raise error

def cycle():
    first, second = ValueError("1"), ValueError("2")
    first.__cause__, second.__cause__ = second, first
    raise first

def empties_the_line_cache():
    import linecache
    linecache.clearcache()
    1 // 0
"""
CALLS = """
    def test_base(solution): solution.raises_base()
    def test_folder(solution): solution.removes_its_folder()
    def test_stdout(solution): solution.breaks_stdout()
    def test_surrogates(solution): solution.prints_surrogates()
    def test_thread(solution): solution.fails_in_a_thread()
    def test_warns(solution): solution.warns()
    def test_alarms(solution): solution.ignores_alarms()
    def test_much(solution, evidence): evidence.exact("much", solution.answers_much())
    def test_notes(solution): solution.notes()
    def test_cycle(solution): solution.cycle()
    def test_cache(solution): solution.empties_the_line_cache()
    def test_last(solution): print("here")
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """One run of all of it."""
    folder = tmp_path_factory.mktemp("hostile")
    return run_child(folder, SOLUTION, CALLS, stub="", evidence_bytes=4 << 20)


def test_the_run_goes_on(report: Report) -> None:
    """Each test has its outcome, and the run its end."""
    expected = {
        "test_base": "runtime_error",
        "test_folder": "accepted",
        "test_stdout": "accepted",
        "test_surrogates": "accepted",
        "test_thread": "accepted",
        "test_warns": "accepted",
        "test_alarms": "accepted",
        "test_much": "wrong",
        "test_notes": "runtime_error",
        "test_cycle": "runtime_error",
        "test_cache": "runtime_error",
        "test_last": "accepted",
    }
    assert expected == report.statuses
    assert "done" == report.kinds[-1]
    report.validate()


def test_a_removed_folder_is_there_again(report: Report) -> None:
    """The tests after it still have a working folder and their output."""
    assert "here\n" == report.outcome("test_last")["output"]


def test_odd_output_is_kept(report: Report) -> None:
    """Lone surrogates and control characters travel as they are; raw bytes pass by."""
    assert "\ud800 块 \0\n" == report.outcome("test_surrogates")["output"]
    assert "raw" in report.stdout


def test_a_failing_thread_is_heard(report: Report) -> None:
    """Its traceback is among what the test printed."""
    assert "ZeroDivisionError" in report.outcome("test_thread")["output"]


def test_a_warning_of_the_learners_line_is_heard(report: Report) -> None:
    """It is shown as Python shows it."""
    assert "UserWarning: think again" in report.outcome("test_warns")["output"]


def test_too_much_evidence_is_told(report: Report) -> None:
    """The limit is named before the parent has to refuse the channel."""
    assert "`much` is too large to be compared" in report.diagnostic("test_much")["what"]["en"]


def test_only_text_notes_become_the_picture(report: Report) -> None:
    """Whatever else stands in ``__notes__`` is left out."""
    assert "see here" == report.diagnostic("test_notes")["picture"]["en"]


def run_one(tmp_path_factory: pytest.TempPathFactory, call: str, **request: float) -> Report:
    """Run one call on its own."""
    tests = f"def test_one(solution, expect):\n    {call}\n\ndef test_two(solution):\n    pass\n"
    return run_child(tmp_path_factory.mktemp("one"), SOLUTION, tests, stub="", **request)  # type: ignore[arg-type]  # fields of the request


def test_a_repr_that_never_ends_is_on_the_clock(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Showing a value can't hang the judge."""
    report = run_one(tmp_path_factory, "expect.equal(solution.Endless(), 1, 'x')", test_s=0.6)
    assert {"test_one": "timed_out"} == report.statuses


def test_a_repr_that_never_ends_is_on_the_clock_in_a_diagnosis(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The values in a test's line are shown on the clock too."""
    report = run_one(tmp_path_factory, "endless = solution.Endless(); endless.size", test_s=0.6)
    assert {"test_one": "timed_out"} == report.statuses
    assert "done" == report.kinds[-1]


def test_an_exception_that_breaks_pytest_ends_the_run_in_order(tmp_path_factory: pytest.TempPathFactory) -> None:
    """When pytest itself can't handle it, the test still has its outcome, and nothing more is run."""
    report = run_one(tmp_path_factory, "solution.raises_liar()")
    assert {"test_one": "runtime_error"} == report.statuses
    assert ["finished", "done"] == report.kinds[-2:]


def test_an_early_exit_leaves_the_test_unfinished(tmp_path_factory: pytest.TempPathFactory) -> None:
    """``os._exit(0)`` makes nothing accepted: the record ends at ``started``."""
    report = run_one(tmp_path_factory, "solution.os._exit(0)")
    assert ("started", 0) == (report.kinds[-1], report.exit_code)


def test_broken_builtins_accept_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    """When the harness itself can't go on, the run is not complete or not accepted."""
    report = run_one(tmp_path_factory, "solution.breaks_builtins()")
    assert "test_two" not in report.statuses or "accepted" != report.statuses["test_one"]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import atexit\natexit.register(lambda: print('late', flush=True))\n", id="atexit"),
        pytest.param("class Late:\n    def __del__(self): print('late', flush=True)\nLATE = Late()\n", id="destructor"),
    ],
)
def test_no_code_runs_after_done(tmp_path_factory: pytest.TempPathFactory, source: str) -> None:
    """The process leaves without a last turn for the solution."""
    body = "def double(number):\n    return number * 2\n"
    report = run_child(tmp_path_factory.mktemp("late"), source + body, TESTS)
    assert {"test_doubles": "accepted"} == report.statuses
    assert "late" not in report.stdout
