"""Children that begin with everything imported: copies of one process, for who runs the same tests many times."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from judge.runner.nursery import ENTRY, Ends, Start, start_interpreter
from judge.sandbox.limits import plan_environment, plan_limits

REPLY_BYTES = 32


class ForkServer:
    """The process that is copied. Linux only.

    Args:
        device: what the children run on.
        scratch: its working directory.
    """

    def __init__(self, device: str, scratch: Path) -> None:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(ENTRY), "serve", str(theirs.fileno()), device],
                cwd=scratch,
                env=plan_environment(scratch),
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    def start(self, ends: Ends, scratch: Path) -> Copy:
        """Start a supervisor and, under it, a child; fits :data:`judge.runner.nursery.Start`.

        Raises:
            OSError: the server is gone.
        """
        order = {"scratch": str(scratch), "environment": plan_environment(scratch), "limits": plan_limits()}
        with self._lock:
            socket.send_fds(self._orders, [json.dumps(order).encode()], ends)
            reply = self._orders.recv(REPLY_BYTES)
            if not reply:
                raise ConnectionResetError("the fork server is gone")
            # The server reaps no child before the next order: the number still means this one.
            return Copy(os.pidfd_open(int(reply)))

    def close(self) -> None:
        """End it; its copies have ended, or are ended by their owners."""
        self._orders.close()
        self._process.kill()
        self._process.wait()


class Copy:
    """A supervisor that is another process's child.

    Args:
        descriptor: a pidfd; closed when the process has ended.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._has_ended = False

    def poll(self) -> int | None:
        """Return ``None`` while it runs, then 0; with what status it ended is not known."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end.

        Raises:
            subprocess.TimeoutExpired: it did not end within ``timeout`` seconds.
        """
        if not self._has_ended:
            if not select.select([self._descriptor], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("supervisor", timeout or 0)
            self._has_ended = True
            os.close(self._descriptor)
        return 0

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, number)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)


@contextlib.contextmanager
def open_fork_server(device: str, scratch: Path) -> Iterator[Start]:
    """Give what starts children: copies of a fork server, or, where there is none, interpreters from nothing.

    Args:
        device: what the children run on.
        scratch: working directory of the server.
    """
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        yield start_interpreter
        return
    server = ForkServer(device, scratch)
    try:
        yield server.start
    finally:
        server.close()
