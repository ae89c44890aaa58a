"""What one test leaves behind, the next one does not see."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.child import Report, run_child

SOLUTION = """
import gc, locale, os, random, signal, sys, threading, warnings
os.environ["FROM_IMPORT"] = "kept"
random.seed(1)
sys.setrecursionlimit(5000)


def litter():
    os.mkdir("deep"), os.chdir("deep")
    os.environ["LITTER"] = "1"
    os.environ.pop("HOME", None)
    sys.path.insert(0, "/litter")
    sys.setrecursionlimit(500)
    warnings.simplefilter("error")
    locale.setlocale(locale.LC_ALL, "C")
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    sys.stdout = sys.stderr = open(os.devnull, "w")
    sys.stdin = None
    sys.excepthook = None
    threading.excepthook = None
    gc.disable()
    sys.settrace(lambda *event: None)
    sys.setswitchinterval(1)


def look():
    import time
    time.sleep(0.1)
    return [
        os.path.basename(os.getcwd()), os.environ.get("LITTER"), os.environ.get("FROM_IMPORT"),
        sys.path[0] == "/litter",
        sys.getrecursionlimit(), sys.getswitchinterval(), [f[0] for f in warnings.filters].count("error"),
        str(signal.getsignal(signal.SIGUSR1)), len(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        type(sys.stdout).__name__, type(sys.stdin).__name__, sys.excepthook is sys.__excepthook__,
        threading.excepthook is threading.__excepthook__, gc.isenabled(), sys.gettrace(),
        locale.setlocale(locale.LC_ALL),
    ]


def draw():
    return random.random()
"""
TESTS = """
    def test_before(solution, evidence): evidence.exact("state", solution.look())
    def test_litters(solution): solution.litter()
    def test_after(solution, evidence): evidence.exact("state", solution.look())
    def test_draws(solution, evidence): evidence.exact("drawn", solution.draw())
    def test_draws_more(solution, evidence): evidence.exact("drawn", solution.draw())
    def test_says(solution): print("heard")
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """One run in which the second test litters."""
    return run_child(tmp_path_factory.mktemp("leftovers"), SOLUTION, TESTS, stub="")


def test_every_test_still_runs(report: Report) -> None:
    """Not even a lost standard output or a blocked alarm stops the run."""
    assert ["accepted"] * 6 == list(report.statuses.values())


def test_the_interpreter_is_put_back(report: Report) -> None:
    """Folder, environment, hooks, signals and limits are as before."""
    before, after = [record["value"] for record in report.of_kind("evidence")][:2]
    assert before == after
    assert "kept" == before[2]


def test_what_import_changes_for_everybody_is_put_back(report: Report) -> None:
    """A recursion limit set at import does not reach the tests."""
    assert 1000 == report.of_kind("evidence")[0]["value"][4]


def test_random_numbers_differ_by_test_and_not_by_run(report: Report, tmp_path: Path) -> None:
    """The global generator is seeded from the run's seed and the test's name."""
    drawn = [record["value"] for record in report.of_kind("evidence") if record["name"] == "drawn"]
    again = run_child(tmp_path, SOLUTION, TESTS, stub="")
    assert drawn == [record["value"] for record in again.of_kind("evidence") if record["name"] == "drawn"]
    assert drawn[0] != drawn[1]


def test_printing_is_heard_again(report: Report) -> None:
    """A replaced standard output lasts for one test."""
    assert "heard\n" == report.outcome("test_says")["output"]


HOLDER_SOLUTION = """
import gc, weakref
gc.disable()
known = []


class Block:
    pass


def fail():
    block = Block()
    known.append(weakref.ref(block))
    try:
        return block.missing
    except AttributeError as fault:
        raise ValueError("no") from fault


def count():
    return sum(one() is not None for one in known)
"""
HOLDER_TESTS = """
    def test_fails(solution): solution.fail()
    def test_counts(solution, evidence): evidence.exact("alive", solution.count())
"""


def test_a_failed_test_holds_nothing(tmp_path: Path) -> None:
    """What it had in hand is gone before the next test, which may measure memory."""
    report = run_child(tmp_path, HOLDER_SOLUTION, HOLDER_TESTS, stub="")
    assert ["runtime_error", "accepted"] == list(report.statuses.values())
    assert [0] == [record["value"] for record in report.of_kind("evidence")]


TORCH_SOLUTION = """
import torch
torch.set_default_dtype(torch.float64)


def litter():
    torch.set_default_dtype(torch.float16)
    torch.set_default_device("meta")
    torch.set_num_threads(1 if torch.get_num_threads() > 1 else 2)
    torch.set_grad_enabled(False)
    torch.manual_seed(0)


def look():
    return [str(torch.zeros(1).dtype), str(torch.zeros(1).device), torch.get_num_threads(),
            torch.is_grad_enabled()]


def draw():
    return torch.rand(1).item()
"""


def test_torch_is_put_back(tmp_path: Path) -> None:
    """Default dtype and device, threads, gradients and seeds are torch's own again."""
    report = run_child(tmp_path, TORCH_SOLUTION, TESTS, stub="", test_s=20)
    states = [record["value"] for record in report.of_kind("evidence")]
    assert ["accepted"] * 6 == list(report.statuses.values())
    assert states[0] == states[1]
    assert ["torch.float32", "cpu"] == states[0][:2]
    assert states[2] != states[3]
