"""The process of an inspected script: a plain child of ours, with the user's terminal, directory and rights."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import judge
from judge.inspection.reader import ReportReader

ENTRY = Path(judge.__file__).parent / "harness" / "inspected" / "entry.py"
POLL_S = 0.05
STACK_BYTES = 64 << 10
LAST_INTERRUPT = 3
"""Ctrl-C's after which a script that goes on is killed; the first ones are its own to handle."""
GRACE_S = 3.0
"""How long a script may go on after SIGTERM. Who sends that kills us too before long."""
HELD = (signal.SIGINT, signal.SIGTERM)
STDERR = 2


@dataclass(frozen=True)
class Ran:
    """A script's process, ended."""

    reader: ReportReader
    status: int
    """As ``Popen.returncode``: negative for a signal."""
    stack: str
    """Python stack that was written at a crash."""
    interrupts: int
    """How often the user asked for an end, by Ctrl-C."""
    is_terminated: bool = False
    """Whether somebody asked for an end by SIGTERM: a time limit, or a machine that shuts down."""


def run_script(
    file: str, arguments: Sequence[str], *, device: str, wants_snapshot: bool, has_stdout: bool = True
) -> Ran:
    """Run a script under the instruments and return what it sent.

    It shares standard streams, directory and process group with us, so that it can read the keyboard, and Ctrl-C
    reaches it as it would without us.

    Args:
        file: the script.
        arguments: its own.
        device: ``cuda`` or ``sim``.
        wants_snapshot: whether it sends its memory snapshot.
        has_stdout: whether standard output is the script's; if not, it prints to standard error.
    """
    reader = ReportReader()
    options = json.dumps({"device": device, "wants_snapshot": wants_snapshot})
    report_out, report_in = os.pipe()
    with tempfile.TemporaryFile() as stack:
        try:
            process = subprocess.Popen(
                [sys.executable, str(ENTRY), str(report_in), str(stack.fileno()), options, file, *arguments],
                pass_fds=(report_in, stack.fileno()),
                stdout=None if has_stdout else STDERR,
            )
        finally:
            os.close(report_in)
        try:
            end = _watch(process, report_out, reader)
        finally:
            os.close(report_out)
            if process.poll() is None:
                process.kill()
                process.wait()
        stack.seek(0)
        text = stack.read(STACK_BYTES).decode("utf-8", "backslashreplace")
        return Ran(reader, process.returncode, text, end.interrupts, end.is_terminated)


def _watch(process: subprocess.Popen[bytes], descriptor: int, reader: ReportReader) -> _Requests:
    """Read until the process has ended, and then what is left; return how its end was asked for."""
    os.set_blocking(descriptor, False)
    requests = _Requests(process)
    with _signals_held(), selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while process.poll() is None:
            if selector.get_map() and selector.select(POLL_S):
                if not _drain(descriptor, reader):
                    selector.unregister(descriptor)
            elif not selector.get_map():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_S)
            requests.meet()
        # A forked copy may hold the pipe open: what is there now is all that is waited for.
        _drain(descriptor, reader)
        # One that reached the script first may have come to us while it ended.
        requests.meet()
    return requests


def _drain(descriptor: int, reader: ReportReader) -> bool:
    """Read all that is there; return whether more may come."""
    with contextlib.suppress(BlockingIOError):
        while data := os.read(descriptor, 1 << 18):
            reader.feed(data)
        return False
    return True


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Keep Ctrl-C and SIGTERM from ending us: they end the script, and the report is still to come."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Requests:
    """Signals that ask for the end of a script."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._patience_ends_s = float("inf")
        self.interrupts = 0
        self.is_terminated = False

    def meet(self) -> None:
        """Take the signals that have come, pass them on, and kill a script that goes on in spite of them."""
        for number, sender in self._take():
            if number == signal.SIGINT:
                self.interrupts += 1
            elif not self.is_terminated:
                self.is_terminated = True
                self._patience_ends_s = time.monotonic() + GRACE_S
            # The terminal signals the whole group, and the kernel has no process id; a process, as by kill, may not.
            if sender != 0:
                with contextlib.suppress(ProcessLookupError):
                    self._process.send_signal(number)
        if self.interrupts >= LAST_INTERRUPT or time.monotonic() > self._patience_ends_s:
            self._process.kill()

    @staticmethod
    def _take() -> Iterator[tuple[signal.Signals, int]]:
        """Yield each signal that is pending, and the process that sent it, 0 for the terminal."""
        if not hasattr(signal, "sigtimedwait"):  # macOS
            for number in signal.sigpending() & set(HELD):
                signal.sigwait({number})
                yield signal.Signals(number), 0 if number == signal.SIGINT else -1
            return
        while (info := signal.sigtimedwait(HELD, 0)) is not None:
            yield signal.Signals(info.si_signo), info.si_pid
