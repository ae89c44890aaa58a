"""Run programs on a real GPU, side by side, each in a process of its own that begins with torch imported.

Importing torch takes longer than most of the programs, so one process imports it, and forks for each program before
anything has touched the GPU. Run as a module, this is that process: it reads the programs as a JSON list from standard
input, and prints how each ended.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

AT_ONCE = 12
"""Processes at most; each holds some 600 MiB of the GPU."""
TIMEOUT_S = 100.0


class Done(NamedTuple):
    """How a process ended."""

    returncode: int
    """Negative for a signal."""
    out: str
    err: str


def run_programs(codes: Sequence[str]) -> list[Done]:
    """Run programs, each as ``python -c`` does, and return how they ended."""
    command = [sys.executable, "-m", "tests.conformance.processes"]
    done = subprocess.run(command, input=json.dumps(list(codes)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return [Done(*ending) for ending in json.loads(done.stdout)]


@dataclass
class Running:
    """A program on its way."""

    number: int
    pid: int
    began_s: float


def serve(folder: Path) -> str | None:
    """Fork for every program that standard input names, and print how they ended.

    Returns:
        In a forked process, the program to run; at last ``None``, in the first process.
    """
    codes: list[str] = json.load(sys.stdin)
    waiting = deque(enumerate(codes))
    running: list[Running] = []
    endings: dict[int, int] = {}
    while waiting or running:
        while waiting and len(running) < min(AT_ONCE, os.cpu_count() or 1):
            number, code = waiting.popleft()
            pid = os.fork()
            if pid == 0:
                redirect(folder / str(number))
                return code
            running.append(Running(number, pid, time.monotonic()))
        time.sleep(0.01)
        running = [one for one in running if not has_ended(one, endings)]
    print(json.dumps([Done(endings[number], *read(folder / str(number))) for number in range(len(codes))]))
    return None


def redirect(path: Path) -> None:
    """Let this process write into files."""
    for descriptor, suffix in ((1, ".out"), (2, ".err")):
        target = os.open(path.with_suffix(suffix), os.O_WRONLY | os.O_CREAT)
        os.dup2(target, descriptor)
        os.close(target)


def has_ended(one: Running, endings: dict[int, int]) -> bool:
    """Tell whether a process has ended, and note its exit status; one that takes too long is killed."""
    if time.monotonic() - one.began_s > TIMEOUT_S:
        os.kill(one.pid, signal.SIGKILL)
    pid, status = os.waitpid(one.pid, os.WNOHANG)
    if pid:
        endings[one.number] = os.waitstatus_to_exitcode(status)
    return pid != 0


def read(path: Path) -> tuple[str, str]:
    """Return what a process wrote."""
    out, err = (path.with_suffix(suffix).read_text(encoding="utf-8", errors="replace") for suffix in (".out", ".err"))
    return out, err


if __name__ == "__main__":
    import torch

    _folder = Path(tempfile.mkdtemp())
    _program = serve(_folder)
    if _program is None:
        shutil.rmtree(_folder)
    else:
        _scope: dict[str, Any] = {"__name__": "__main__", "torch": torch}
        exec(compile(_program, "<string>", "exec"), _scope)
