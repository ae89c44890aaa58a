"""Scripts that end badly: each gets a clear line, and never a traceback of ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.inspection.scripts import JUDGE, WAITING, Answer, call, environment, inspect, read_json

WAIT = "import torch; torch.zeros(3, device='cuda').sum().item()\n"

ENDS = {
    "syntax": ("x = 1\nif x\n    pass\n", "no Python program: SyntaxError: expected ':'", "script.py:2"),
    "null": ("x = 1\n\0", "no Python program: SyntaxError", None),
    "raises": ("def f():\n    return 1 / 0\nf()\n", "raised ZeroDivisionError: division by zero", "script.py:2"),
    "status": (WAIT + "raise SystemExit(3)\n", "ended itself with status 3", "script.py:2"),
    "text": ("import sys\nsys.exit('no good')\n", "ended itself: no good", "script.py:2"),
    "at once": (WAIT + "import os\nos._exit(4)\n", "ended itself with status 4 (os._exit)", None),
    "signal": (WAIT + "import ctypes\nctypes.string_at(0)\n", "killed by SIGSEGV", "script.py:3"),
    "killed": (WAIT + "import os\nos.kill(os.getpid(), 9)\n", "killed by SIGKILL", None),
    "second GPU": ("import torch\ntorch.zeros(3, device='cuda:1')\n", "cuda:1 needs a real GPU", "script.py:2"),
    "200 GB": (
        "import torch\ntorch.empty(200 << 30, dtype=torch.uint8, device='cuda')\n",
        "raised OutOfMemoryError: CUDA out of memory. Tried to allocate 200.00 GiB",
        "script.py:2",
    ),
    "sparse": (
        "import torch\ntorch.zeros(3, 3, device='cuda').to_sparse()\n",
        "needs a real GPU",
        "script.py:2",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_bad_end_is_one_clear_line_with_its_place(name: str, tmp_path: Path) -> None:
    """The exit status is 1, and the report names what happened and where."""
    source, line, place = ENDS[name]
    answer = inspect(tmp_path, source, "--json", "out.json")
    assert 1 == answer.code, answer.err
    assert line in " ".join(answer.out.split())
    assert place is None or place in answer.out
    assert_nothing_of_ours(answer)
    error = read_json(tmp_path / "out.json")["error"]
    assert place is None or place == f"{error['file']}:{error['line']}"


def assert_nothing_of_ours(answer: Answer) -> None:
    """Check that no frame of the judge is shown."""
    assert f"{os.sep}judge{os.sep}" not in answer.err.replace(str(JUDGE), "")
    assert f"{os.sep}judge{os.sep}" not in answer.out


def test_a_script_s_exception_is_shown_as_its_own(tmp_path: Path) -> None:
    """The traceback is the one that Python would print, causes included."""
    source = "try:\n    1 / 0\nexcept ZeroDivisionError as fault:\n    raise KeyError('x') from fault\n"
    answer = inspect(tmp_path, source)
    plain = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert [line.strip() for line in plain.stderr.splitlines()] == [line.strip() for line in answer.err.splitlines()]


def test_a_hook_of_the_script_s_is_used(tmp_path: Path) -> None:
    """Who wants to show exceptions differently does so here too."""
    answer = inspect(tmp_path, "import sys\nsys.excepthook = lambda *a: print('mine', a[0].__name__)\n1 / 0\n")
    assert "mine ZeroDivisionError" == answer.out.splitlines()[0]


def test_what_a_killed_script_did_before_is_in_the_report(tmp_path: Path) -> None:
    """Reports are sent on the way."""
    source = WAIT + "import ctypes, time\ntime.sleep(1)\nctypes.string_at(0)\n"
    answer = inspect(tmp_path, source, "--json", "out.json")
    assert [1] == [sync["count"] for sync in read_json(tmp_path / "out.json")["syncs"]]
    assert "The report goes as far as" in answer.out


def test_a_fork_is_noted_and_reports_nothing_twice(tmp_path: Path) -> None:
    """What the copy prints is shown; what it does on its device is its own."""
    source = WAIT + "import os\nif os.fork() == 0:\n    print('copy')\nelse:\n    os.wait()\n    print('parent')\n"
    answer = inspect(tmp_path, source, "--json", "out.json")
    assert 0 == answer.code, answer.err
    assert {"copy", "parent"} <= set(answer.out.splitlines())
    assert "The script forked" in answer.out
    assert [1] == [sync["count"] for sync in read_json(tmp_path / "out.json")["syncs"]]


@pytest.mark.parametrize("count", [1, 3], ids=["once", "three times"])
def test_control_c_gives_the_report_so_far(count: int, tmp_path: Path) -> None:
    """A loop that ignores two of them is killed by the third."""
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" if count > 1 else ""
    loop = "import time\ntime.sleep(1)\nprint('go', flush=True)\nwhile True:\n    pass\n"
    (tmp_path / "script.py").write_text(WAITING + stubborn + loop, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(JUDGE), "inspect", "--device", "sim", "script.py", "--json", "out.json"],
        cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert "go\n" in iter(process.stdout.readline, "")
    for _ in range(count):
        process.send_signal(signal.SIGINT)
        if count > 1:
            # Signals that are pending together are one.
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.4)
    out, err = process.communicate(timeout=60)
    assert (130, "") == (process.returncode, err)
    assert "Interrupted" in out
    found = read_json(tmp_path / "out.json")
    assert "interrupted" == found["error"]["kind"]
    assert [3] == [sync["count"] for sync in found["syncs"]]


@pytest.mark.parametrize(
    ("source", "conditions", "code"),
    [
        (WAITING, "syncs", 1),
        (WAITING, "races", 0),
        (WAITING, "races,syncs", 1),
        ("import torch\n", "syncs,races", 0),
    ],
    ids=["struck", "other", "either", "clean"],
)
def test_fail_on_decides_the_exit_status(source: str, conditions: str, code: int, tmp_path: Path) -> None:
    """CI fails on what it was told to fail on, and on nothing else."""
    assert code == inspect(tmp_path, source, "--fail-on", conditions).code


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "FILE"),
        (("none.py",), "There is no file none.py"),
        ((".",), "is no file"),
        (("script.py", "--fail-on", "speed"), "does not know speed"),
        (("script.py", "--json", "no/such/out.json"), "no/such/out.json can't be written"),
        (("script.py", "--device", "tpu"), "--device"),
    ],
    ids=["nothing", "no file", "folder", "condition", "output", "device"],
)
def test_wrong_usage_runs_nothing(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    """One line, exit status 2."""
    (tmp_path / "script.py").write_text("print('ran')", encoding="utf-8")
    answer = call(tmp_path, *arguments)
    assert (2, "") == (answer.code, answer.out)
    assert words in answer.err
    assert 1 == answer.err.count("\n")
