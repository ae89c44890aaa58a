"""The process between judge and child leaves no survivor, however the run ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judge.sandbox import supervisor

linux = pytest.mark.skipif(sys.platform != "linux", reason="a child subreaper exists on Linux only")

DAEMON = (
    "import os, sys, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        time.sleep(1000)\n"
    "    os._exit(0)\n"
    "open(sys.argv[1], 'w').close()\n"
    "time.sleep(float(sys.argv[2]))\n"
)


def start(*command: str, limits: dict[str, int] | None = None) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command under a supervisor; return it and the reading end of its status pipe."""
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", supervisor.__file__, str(writing), json.dumps(limits or {}), *command],
        pass_fds=(writing,),
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    return process, reading


def read_status(reading: int) -> dict[str, int]:
    """Return what the supervisor wrote at its end."""
    with os.fdopen(reading, "rb") as pipe:
        return json.loads(pipe.read() or b"{}")


def wait_for(condition, timeout_s: float = 5.0) -> bool:
    """Wait until a condition holds."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def is_running(word: str) -> bool:
    """Tell whether a process has this word in its command line."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


@pytest.mark.parametrize(
    ("code", "status"),
    [("raise SystemExit(3)", 3 << 8), ("import os; os.abort()", signal.SIGABRT)],
    ids=["exit code", "signal"],
)
def test_the_end_of_the_child_is_reported(code, status):
    """The child's wait status and peak memory cross the pipe."""
    process, reading = start(sys.executable, "-I", "-c", code)
    reported = read_status(reading)
    process.wait()
    assert reported["status"] & 0x7F7F in (status, status | 0x80)
    assert reported["peak_rss_bytes"] > 1 << 20


def test_a_command_that_does_not_exist_is_reported():
    """What can't be started ends with 127, as in a shell."""
    process, reading = start("/nowhere/at/all")
    assert os.waitstatus_to_exitcode(read_status(reading)["status"]) == 127
    process.wait()


@linux
@pytest.mark.parametrize("how", ["by itself", "by SIGTERM", "by SIGKILL of the child"])
def test_a_daemon_of_the_child_is_dead_afterwards(how, tmp_path):
    """A double fork with setsid is found and killed, whether the child ends or is ended."""
    mark = tmp_path / "started"
    process, reading = start(sys.executable, "-I", "-c", DAEMON, str(mark), "0" if how == "by itself" else "1000")
    assert wait_for(mark.exists)
    if how == "by SIGTERM":
        process.terminate()
    if how == "by SIGKILL of the child":
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)
    assert process.wait(10) == 0
    assert "status" in read_status(reading)
    assert not is_running(str(mark))


@linux
def test_the_tree_dies_with_the_judge(tmp_path):
    """A judge that is killed leaves neither supervisor nor child nor daemon."""
    mark = tmp_path / "started"
    command = [sys.executable, "-I", "-S", supervisor.__file__, "1", "{}", sys.executable, "-I", "-c", DAEMON]
    code = f"import subprocess, time; subprocess.Popen({[*command, str(mark), '1000']!r}); time.sleep(1000)"
    judge = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    assert wait_for(mark.exists)
    judge.kill()
    judge.wait()
    assert wait_for(lambda: not is_running(str(mark)))


def test_limits_are_in_force():
    """Resource limits hold for the child, and can't be raised by it."""
    code = (
        "import resource\n"
        "assert resource.getrlimit(resource.RLIMIT_NOFILE) == (100, 100)\n"
        "assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)\n"
    )
    process, reading = start(sys.executable, "-I", "-c", code, limits={"RLIMIT_NOFILE": 100, "RLIMIT_CORE": 0})
    assert read_status(reading)["status"] == 0
    process.wait()
