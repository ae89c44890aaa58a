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


@dataclass(frozen=True)
class Ran:
    """A script's process, ended."""

    reader: ReportReader
    status: int
    """As ``Popen.returncode``: negative for a signal."""
    stack: str
    """Python stack that was written at a crash."""
    interrupts: int
    """How often the user asked for an end."""


def run_script(file: str, arguments: Sequence[str], *, device: str, wants_snapshot: bool) -> Ran:
    """Run a script under the instruments and return what it sent.

    It shares standard streams, directory and process group with us, so that it can read the keyboard, and Ctrl-C
    reaches it as it would without us.

    Args:
        file: the script.
        arguments: its own.
        device: ``cuda`` or ``sim``.
        wants_snapshot: whether it sends its memory snapshot.
    """
    reader = ReportReader()
    options = json.dumps({"device": device, "wants_snapshot": wants_snapshot})
    report_out, report_in = os.pipe()
    with tempfile.TemporaryFile() as stack:
        try:
            process = subprocess.Popen(
                [sys.executable, str(ENTRY), str(report_in), str(stack.fileno()), options, file, *arguments],
                pass_fds=(report_in, stack.fileno()),
            )
        finally:
            os.close(report_in)
        try:
            interrupts = _watch(process, report_out, reader)
        finally:
            os.close(report_out)
            if process.poll() is None:
                process.kill()
                process.wait()
        stack.seek(0)
        return Ran(reader, process.returncode, stack.read(STACK_BYTES).decode("utf-8", "backslashreplace"), interrupts)


def _watch(process: subprocess.Popen[bytes], descriptor: int, reader: ReportReader) -> int:
    """Read until the process has ended, and then what is left; return the number of interrupts."""
    os.set_blocking(descriptor, False)
    interrupts = 0
    with _interrupts_held(), selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while process.poll() is None:
            if selector.get_map() and selector.select(POLL_S):
                if not _drain(descriptor, reader):
                    selector.unregister(descriptor)
            elif not selector.get_map():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_S)
            interrupts += _pass_interrupt_on(process)
            if interrupts >= LAST_INTERRUPT:
                process.kill()
        # A forked copy may hold the pipe open: what is there now is all that is waited for.
        _drain(descriptor, reader)
    return interrupts


def _drain(descriptor: int, reader: ReportReader) -> bool:
    """Read all that is there; return whether more may come."""
    with contextlib.suppress(BlockingIOError):
        while data := os.read(descriptor, 1 << 18):
            reader.feed(data)
        return False
    return True


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C from ending us: it ends the script, and the report is still to come."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pass_interrupt_on(process: subprocess.Popen[bytes]) -> int:
    """Return 1 if an interrupt came. The terminal's reached the script too; any other is passed on."""
    if not hasattr(signal, "sigtimedwait"):  # macOS
        if signal.SIGINT not in signal.sigpending():
            return 0
        signal.sigwait({signal.SIGINT})
        return 1
    info = signal.sigtimedwait({signal.SIGINT}, 0)
    if info is None:
        return 0
    # From a process, as by kill: only the terminal signals the whole group, and the kernel has no process id.
    if info.si_pid != 0:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
    return 1
