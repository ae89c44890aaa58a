"""The process between the judge and a child: it limits the child and leaves no survivor.

Started by path as ``python -I -S supervisor.py STATUS_FD LIMITS_JSON COMMAND…``; it imports nothing of the
judge. As a *child subreaper* it inherits every orphan of the submission (``setsid`` and a double fork
included), and kills descendants until none is left. It ends the tree when the child ends, on SIGTERM, or
when the judge dies. At the end it writes one JSON object to STATUS_FD: how the child ended, and its peak
resident memory.

Elsewhere than on Linux there is no subreaper: the child's process group is killed.

A fork server, which has imported what a child needs, calls :func:`supervise` in a copy of itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
IS_LINUX = sys.platform == "linux"


def main(arguments: list[str]) -> int:
    """Run one command under the limits and report its end."""
    status_fd, limits, command = int(arguments[0]), json.loads(arguments[1]), arguments[2:]

    def start() -> NoReturn:
        os.execv(command[0], command)

    supervise(status_fd, limits, start, parent=os.getppid())
    return 0


def supervise(status_fd: int, limits: dict[str, int], start: Callable[[], NoReturn], *, parent: int) -> None:
    """Fork a child, wait for its end, kill what is left of it, and write how it ended.

    Args:
        status_fd: where to write; the child does not have it.
        limits: resource limits by name.
        start: called in the child, under the limits; does not return.
        parent: the process whose end ends the tree.
    """
    _become_subreaper()
    stop = _StopRequested()
    child = os.fork()
    if child == 0:
        os.close(status_fd)
        _start_child(limits, start)
    if os.getppid() != parent:
        stop.is_set = True
    status, peak_rss_bytes = _wait(child, stop)
    _kill_descendants(child)
    with contextlib.suppress(OSError):
        os.write(status_fd, json.dumps({"status": status, "peak_rss_bytes": peak_rss_bytes}).encode())


class _StopRequested:
    """Set by SIGTERM, which is also sent by the kernel when the judge dies."""

    def __init__(self) -> None:
        self.is_set = False
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._set)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def _set(self, *_: object) -> None:
        self.is_set = True


def _become_subreaper() -> None:
    if IS_LINUX:
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _start_child(limits: dict[str, int], start: Callable[[], NoReturn]) -> NoReturn:
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        if IS_LINUX:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for name, value in limits.items():
            _limit(getattr(resource, name), value)
        start()
    except BaseException as fault:
        os.write(2, f"supervisor: the child could not be started: {fault!r}\n".encode())
    os._exit(127)


def _limit(what: int, value: int) -> None:
    hard = resource.getrlimit(what)[1]
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (ceiling, ceiling))


def _wait(child: int, stop: _StopRequested) -> tuple[int, int]:
    """Wait for the child, reaping orphans on the way; return its wait status and the peak memory."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
    status = 0
    while True:
        if stop.is_set:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        while True:
            try:
                ended, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return status, 0
            if ended == child:
                unit = 1024 if IS_LINUX else 1
                return status, usage.ru_maxrss * unit
            if ended == 0:
                break
        # A signal that came between the look above and this line is pending, so nothing is missed.
        got = signal.sigwait({signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
        if got != signal.SIGCHLD:
            stop.is_set = True


def _kill_descendants(child: int) -> None:
    """Kill until nothing is left: the death of a parent hands its children to this process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if not IS_LINUX:
        return
    while True:
        children = _children_of(os.getpid())
        for number in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children_of(parent: int) -> list[int]:
    children = []
    for name in os.listdir("/proc"):  # noqa: PTH208  pathlib is not imported: this process starts in 20 ms
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123  as above
                # The command may hold spaces and parentheses: fields are counted from the last one.
                if int(file.read().rpartition(b")")[2].split()[1]) == parent:
                    children.append(int(name))
    return children


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
