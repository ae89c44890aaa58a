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
    "syntax": ("x = 1\nif x\n    pass\n", "✗ no Python program", "script.py:2"),
    "null": ("x = 1\n\0", "✗ no Python program", None),
    "status": (WAIT + "raise SystemExit(3)\n", "exit status 3", "script.py:2"),
    "at once": (WAIT + "import os\nos._exit(4)\n", "The script ended itself, by os._exit.", None),
    "signal": (WAIT + "import ctypes, time\ntime.sleep(1)\nctypes.string_at(0)\n", "killed by SIGSEGV", "script.py:4"),
    "killed": (WAIT + "import os\nos.kill(os.getpid(), 9)\n", "killed by SIGKILL", None),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_bad_end_is_one_clear_line_with_its_place(name: str, tmp_path: Path) -> None:
    """The exit status is 1, and the report names what happened and where, and what the script did before."""
    source, line, place = ENDS[name]
    answer = inspect(tmp_path, source, "--json", "out.json")
    assert 1 == answer.code, answer.err
    assert line in " ".join(answer.out.split())
    assert place is None or place in answer.out
    assert_nothing_of_ours(answer)
    found = read_json(tmp_path / "out.json")
    assert place is None or place == f"{found['error']['file']}:{found['error']['line']}"
    if name == "signal":
        # Reports were sent on the way.
        assert [1] == [sync["count"] for sync in found["syncs"]]
        assert "The report goes as far as" in answer.out


def assert_nothing_of_ours(answer: Answer) -> None:
    """Check that no frame of the judge is shown."""
    assert f"{os.sep}judge{os.sep}" not in answer.err.replace(str(JUDGE), "")
    assert f"{os.sep}judge{os.sep}" not in answer.out


def test_a_script_s_exception_is_shown_as_its_own(tmp_path: Path) -> None:
    """The traceback is the one that Python would print, causes included."""
    source = "try:\n    1 / 0\nexcept ZeroDivisionError as fault:\n    raise KeyError('x') from fault\n"
    answer = inspect(tmp_path, source, "--json", "out.json")
    plain = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert [line.strip() for line in plain.stderr.splitlines()] == [line.strip() for line in answer.err.splitlines()]
    assert 1 == answer.code
    assert "✗ raised KeyError" in answer.out
    assert "script.py:4" in answer.out
    assert "KeyError: 'x'" not in answer.out
    error = read_json(tmp_path / "out.json")["error"]
    assert ("exception", "KeyError", "script.py", 4) == tuple(error[key] for key in ("kind", "type", "file", "line"))


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
    for _ in range(count - 1):
        process.send_signal(signal.SIGINT)
        # Signals that are pending together are one.
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (130, "") == (process.returncode, err)
    assert "Interrupted" in out
    found = read_json(tmp_path / "out.json")
    assert "interrupted" == found["error"]["kind"]
    assert [3] == [sync["count"] for sync in found["syncs"]]


@pytest.mark.parametrize("is_stubborn", [False, True], ids=["obeys", "goes on"])
def test_sigterm_gives_the_report_so_far(is_stubborn: bool, tmp_path: Path) -> None:
    """A time limit of CI's sends it: the script unwinds as by Ctrl-C, or is killed soon, and 143 is the status."""
    stubborn = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if is_stubborn else ""
    loop = (
        "import time\ntime.sleep(1)\nprint('go', flush=True)\ntry:\n    time.sleep(99)\nfinally:\n    print('over')\n"
    )
    (tmp_path / "script.py").write_text(WAITING + stubborn + loop, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(JUDGE), "inspect", "--device", "sim", "script.py", "--json", "out.json"],
        cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert "go\n" in iter(process.stdout.readline, "")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (143, "") == (process.returncode, err)
    assert "Interrupted by SIGTERM" in out
    assert is_stubborn != ("over" in out.splitlines())
    found = read_json(tmp_path / "out.json")
    assert ("interrupted", "SIGTERM") == (found["error"]["kind"], found["error"]["type"])
    assert [3] == [sync["count"] for sync in found["syncs"]]


def test_a_sigterm_of_the_script_s_own_is_its_failure(tmp_path: Path) -> None:
    """Nobody has asked us for an end; and its workers end by SIGTERM as they always did."""
    # Python forgets a signal that comes while it forks: the worker says when it is there.
    worker = "    os.write(tell, b'x')\n    time.sleep(99)\n    os._exit(1)\nos.read(ready, 1)\nos.kill(child, 15)\n"
    fork = "import os, signal, time\nready, tell = os.pipe()\nif not (child := os.fork()):\n" + worker
    source = fork + "print('worker', os.waitpid(child, 0)[1])\nos.kill(os.getpid(), 15)\ntime.sleep(9)\n"
    answer = inspect(tmp_path, source)
    assert 1 == answer.code
    assert "worker 15" in answer.out
    assert "✗ killed by SIGTERM" in answer.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "FILE"),
        (("none.py",), "There is no file none.py. Give the path of a Python script"),
        ((".",), "is no file"),
        (("script.py", "--fail-on", "speed"), "does not know speed"),
        (("script.py", "--json", "no/such/out.json"), "no/such/out.json can't be written"),
        (("script.py", "--device", "tpu"), "--device"),
        (("script.py", "--snapshot", "-"), "Name a file: --snapshot memory.pickle"),
        (("script.py", "--trace", "-", "--json", "-"), "Name a file for the other one"),
    ],
    ids=["nothing", "no file", "folder", "condition", "output", "device", "snapshot", "two outputs"],
)
def test_wrong_usage_runs_nothing(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    """One line, exit status 2."""
    (tmp_path / "script.py").write_text("print('ran')", encoding="utf-8")
    answer = call(tmp_path, *arguments)
    assert (2, "") == (answer.code, answer.out)
    assert words in answer.err
    assert 1 == answer.err.count("\n")
