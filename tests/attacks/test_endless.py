"""Submissions that never end: timed out, with the line, and nothing survives (rows 30 and 34)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.attacks.process import HONEST, judge

ENDLESS = {
    "loop in Python": "def double(numbers):\n    while True:\n        pass\n",
    "loop that catches everything": (
        "def double(numbers):\n"
        "    while True:\n"
        "        try:\n"
        "            while True:\n"
        "                pass\n"
        "        except BaseException:\n"
        "            pass\n"
    ),
    "loop in C that holds the GIL": (
        "import itertools\n\n\ndef double(numbers):\n    return any(itertools.repeat(False))\n"
    ),
    "loop in a finaliser": (
        "class Endless:\n"
        "    def __del__(self):\n"
        "        while True:\n"
        "            pass\n\n\n"
        "def double(numbers):\n"
        "    Endless()\n"
    ),
    "loop at module level": "while True:\n    pass\n",
    "lock that is never released": (
        "import threading\n\nlock = threading.Lock()\nlock.acquire()\n\n\ndef double(numbers):\n    lock.acquire()\n"
    ),
    "input from the keyboard": "def double(numbers):\n    return input()\n",
    "read of standard input": "import os\n\n\ndef double(numbers):\n    return os.read(0, 1)\n",
    "thread that never ends": (
        "import threading\nimport time\n\n\n"
        "def double(numbers):\n"
        "    threading.Thread(target=lambda: time.sleep(1e6)).start()\n"
        "    while True:\n        pass\n"
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_timed_out(name, tmp_path):
    """A submission that never ends is timed out at about its test's clock, and the line is named."""
    judged = judge(HONEST + "\n\n" + ENDLESS[name], tmp_path)
    assert (judged.exit_code, judged.status) == (1, "timed_out")
    first = HONEST.count("\n") + 3
    assert any(line >= first for line in judged.lines), judged.words


def test_waiting_for_the_keyboard_is_named(tmp_path):
    """A solution that waits for input is told so."""
    judged = judge(HONEST + "\n\n" + ENDLESS["input from the keyboard"], tmp_path)
    assert "input" in judged.words


SURVIVORS = {
    "child": "os.spawnlp(os.P_NOWAIT, 'sleep', 'sleep', '{number}')",
    "daemon": (
        "if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        "            os.execlp('sleep', 'sleep', '{number}')\n"
        "        os._exit(0)"
    ),
    "deaf daemon": (
        "if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "        if os.fork() == 0:\n"
        "            os.execlp('sleep', 'sleep', '{number}')\n"
        "        os._exit(0)"
    ),
}


@pytest.mark.parametrize("name", SURVIVORS)
def test_no_process_survives_the_run(name, tmp_path):
    """Children, orphans and daemons that left the process group are dead when the verdict is there."""
    number = 100_000 + os.getpid() + len(name)
    body = SURVIVORS[name].format(number=number)
    source = HONEST.replace("    return [2", f"    {body}\n    return [2").replace(
        '"""The reference of 901."""', "import os\nimport signal"
    )
    judged = judge(source, tmp_path)
    assert judged.status == "accepted", judged.words
    assert not is_running(f"sleep\0{number}")


def is_running(command: str) -> bool:
    """Tell whether a process with this command line exists; a dying one gets a moment."""
    for _ in range(20):
        lines = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                lines.append((folder / "cmdline").read_bytes().decode(errors="replace"))
            except OSError:
                continue
        if not any(command in line for line in lines):
            return False
        time.sleep(0.05)
    return True
