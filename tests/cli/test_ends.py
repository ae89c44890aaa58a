"""How a call can end: interrupted, killed, without a reader, on a full disk."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judge.store.attempts import AttemptLog
from tests.cli.checkout import SOLUTION, Checkout

SLEEPER = """
import os
import time
with open({marker!r}, "w") as marker:
    marker.write(str(os.getpid()))
time.sleep(600)
"""


def start_sleeper(checkout: Checkout, *options: str) -> tuple[subprocess.Popen[str], int]:
    """Start judging a file that sleeps; return the judge and the child's process id once it sleeps."""
    marker = checkout.home / "marker"
    (checkout.home / "sleeper.py").write_text(SLEEPER.format(marker=str(marker)), encoding="utf-8")
    command = [sys.executable, str(checkout.script), "901", "sleeper.py", *options]
    process = subprocess.Popen(
        command,
        cwd=checkout.home,
        env=checkout.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline_s = time.monotonic() + 60
    while not (marker.exists() and marker.read_text()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    return process, int(marker.read_text())


def is_alive(process_id: int) -> bool:
    """Return whether a process exists and is no zombie."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_for_death(process_id: int) -> bool:
    """Return whether a process dies within a few seconds."""
    deadline_s = time.monotonic() + 5
    while is_alive(process_id) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return not is_alive(process_id)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc whether a process lives")
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["report", "json"])
def test_control_c_ends_everything_with_one_line(checkout: Checkout, options: tuple[str, ...]) -> None:
    """Exit status 130, one line, no survivor, and the attempt is on record as interrupted."""
    process, child = start_sleeper(checkout, *options)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (130, "") == (process.returncode, out)
    assert err.strip().startswith("Interrupted: ")
    assert 1 == err.strip().count("\n") + 1
    assert wait_for_death(child)
    assert "interrupted" in checkout.call("history").out


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc whether a process lives")
def test_a_killed_judge_leaves_an_interrupted_attempt_and_no_survivor(checkout: Checkout) -> None:
    """The judge gets kill -9 in the middle of a run; the next call finds a whole store."""
    process, child = start_sleeper(checkout)
    process.kill()
    process.communicate(timeout=30)
    assert wait_for_death(child)
    assert "accepted" == judge_and_get_status(checkout)
    assert [None] == [one.status for one in AttemptLog(checkout.home / "data" / "attempts.db").history()[1:]]


def judge_and_get_status(checkout: Checkout) -> str | None:
    """Judge the reference and return the status on record."""
    checkout.call("901", SOLUTION)
    return AttemptLog(checkout.home / "data" / "attempts.db").history()[0].status


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["901"], 1), (["901", "--json"], 1), (["list"], 0), (["--help"], 0), (["show", "901"], 0)],
    ids=["report", "json", "list", "help", "show"],
)
def test_a_reader_that_went_away_is_no_fault(checkout: Checkout, arguments: list[str], code: int) -> None:
    """``| head`` gets no traceback, and the exit status stays the verdict's."""
    shutil.copy(checkout.root / "problems" / "901_double" / "stub.py", checkout.practice / "901_double.py")
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        [sys.executable, "practice/judge.py", *arguments],
        cwd=checkout.root,
        env=checkout.environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writing)
    _, err = process.communicate(timeout=60)
    assert (code, "") == (process.returncode, err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["list"], ["901", "--json"], ["--help"]], ids=["list", "json", "help"])
def test_a_full_disk_is_said_and_is_no_success(checkout: Checkout, arguments: list[str]) -> None:
    """Output that is lost must not look like a verdict."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "practice/judge.py", *arguments],
            cwd=checkout.root,
            env=checkout.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert 3 == done.returncode
    assert "Standard output could not be written: no space is left on the disk." in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_streams_are_no_fault(checkout: Checkout) -> None:
    """``>&- 2>&-``: nothing can be said, the exit status still tells."""
    command = f"exec {sys.executable} practice/judge.py list >&- 2>&- <&-"
    done = subprocess.run(["sh", "-c", command], cwd=checkout.root, env=checkout.environment(), check=False)
    assert 0 == done.returncode


def test_a_terminal_without_chinese_gets_english_and_escapes(checkout: Checkout) -> None:
    """Words in a language that can be shown; a file's name is spelt out."""
    answer = checkout.call("list", "--lang", "zh", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (0, "") == (answer.code, answer.err)
    assert "Double every number" in answer.out
    missing = checkout.call("901", "没有.py", "--lang", "zh", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (2, "") == (missing.code, missing.out)
    assert "There is no file \\u6ca1\\u6709.py" in missing.err
