"""Interpreters that are started before it is known what they will run.

A child needs a third of a second to import pytest and the harness, and the judge as long to import its models
and to read the problem. Both happen at once: what a child is to run, it is told later. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple, Protocol

import judge
from judge.sandbox.limits import plan_environment, plan_limits

SUPERVISOR = Path(judge.__file__).parent / "sandbox" / "supervisor.py"
ENTRY = Path(judge.__file__).parent / "harness" / "entry.py"

STOP_S = 2.0
"""How long the supervisor may take to end the tree before it is killed itself."""
STACK_BYTES = 64 << 10


class Ends(NamedTuple):
    """Descriptors that are the child's: its ends of pipes, and a file."""

    request: int
    report: int
    stack: int
    status: int
    """The supervisor's alone."""
    stdin: int
    output: int


class Supervisor(Protocol):
    """The process that a child runs under."""

    def poll(self) -> int | None:
        """Return ``None`` while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, for as many seconds; raises ``subprocess.TimeoutExpired``."""

    def send_signal(self, number: int, /) -> None:
        """Send it a signal."""

    def kill(self) -> None:
        """Kill it."""


Start = Callable[[Ends, Path], Supervisor]
"""Starts a child with those descriptors in a working directory that is also its home."""


def start_interpreter(ends: Ends, scratch: Path) -> Supervisor:
    """Start a supervisor and, under it, an interpreter from nothing."""
    command = [
        sys.executable, "-I", "-S", str(SUPERVISOR), str(ends.status), json.dumps(plan_limits()),
        sys.executable, "-I", str(ENTRY), str(ends.request), str(ends.report), str(ends.stack),
    ]  # fmt: skip
    return subprocess.Popen(
        command,
        cwd=scratch,
        env=plan_environment(scratch),
        stdin=ends.stdin,
        stdout=ends.output,
        stderr=subprocess.STDOUT,
        pass_fds=(ends.request, ends.report, ends.stack, ends.status),
        start_new_session=True,
    )


class Process:
    """A child's interpreter, under its supervisor, in a private folder: it runs nothing until it is asked.

    Args:
        start: how the child comes into being.
    """

    def __init__(self, start: Start = start_interpreter) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tacit-"))
        """Removed by :meth:`close`, whatever the child did to it."""
        self.scratch = self.folder / "scratch"
        """Working directory, home and temporary directory of the child."""
        self.scratch.mkdir()
        self._stack: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        self._is_closed = False
        try:
            self._open(start)
        except BaseException:
            _remove(self.folder)
            raise

    def _open(self, start: Start) -> None:
        request_out, self._request = os.pipe()
        self.report, report_in = os.pipe()
        self.status, status_in = os.pipe()
        stdin_out, self._stdin = os.pipe()
        self.output, output_in = os.pipe()
        ends = Ends(request_out, report_in, self._stack.fileno(), status_in, stdin_out, output_in)
        try:
            self._supervisor = start(ends, self.scratch)
        finally:
            for descriptor in (request_out, report_in, status_in, stdin_out, output_in):
                os.close(descriptor)

    def ask(self, request: Mapping[str, object]) -> None:
        """Tell the child what to run."""
        descriptor, self._request = self._request, -1
        # A request is far smaller than a pipe's buffer: this write can't block. A child that has died reads none.
        with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as pipe:
            pipe.write(json.dumps(request).encode())

    def has_ended(self) -> bool:
        """Return whether the supervisor has ended, and with it the whole tree."""
        return self._supervisor.poll() is not None

    def stop(self) -> None:
        """Ask the supervisor to kill the whole tree."""
        with contextlib.suppress(ProcessLookupError):
            self._supervisor.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill a supervisor that does not obey."""
        self._supervisor.kill()

    def end(self) -> str:
        """Wait until the tree is dead, and return the stack that it may have written."""
        try:
            self._supervisor.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            self._supervisor.wait()
        self._stack.seek(0)
        return self._stack.read(STACK_BYTES).decode("utf-8", "backslashreplace")

    def close(self) -> None:
        """Release everything; the tree is dead and the folder gone afterwards."""
        if self._is_closed:
            return
        self._is_closed = True
        if not self.has_ended():
            self.stop()
            self.end()
        for descriptor in (self._request, self.report, self.status, self._stdin, self.output):
            if descriptor >= 0:
                os.close(descriptor)
        self._stack.close()
        _remove(self.folder)


@contextlib.contextmanager
def open_nursery(count: int = 2, start: Start = start_interpreter) -> Iterator[tuple[Process, ...]]:
    """Start as many interpreters; at the end, whatever happened, no process and no folder of theirs is left."""
    with contextlib.ExitStack() as stack:
        processes: list[Process] = []
        for _ in range(count):
            process = Process(start)
            stack.callback(process.close)
            processes.append(process)
        # Both are asked first and awaited after, so that an interrupt ends both at once.
        stack.callback(_stop, processes)
        yield tuple(processes)


def _stop(processes: list[Process]) -> None:
    """Ask those that still run to end."""
    for process in processes:
        if not process.has_ended():
            process.stop()


def _remove(root: Path) -> None:
    """Remove a tree in which folders may have lost their permissions."""
    for folder, names, _ in os.walk(root):
        for name in names:
            inner = Path(folder, name)
            if not inner.is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(root, ignore_errors=True)
