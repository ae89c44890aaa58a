"""A process that has imported what every child needs, and forks one for each order.

Importing pytest, the harness and torch takes seconds; ``check`` runs a problem's tests a hundred times. The child
is a copy: it has the same modules, and nothing of another child's. Linux only.

Only for sources of a problem's author: a learner's judgement starts from nothing.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from judge.sandbox.supervisor import supervise

ORDER_BYTES = 1 << 16
DESCRIPTORS = 6
"""Of the child: request, report, stack, status, standard input and output."""

STREAMS = (("stdin", "r", "strict"), ("stdout", "w", "strict"), ("stderr", "w", "backslashreplace"))
"""Name, mode and error handler of the streams on descriptors 0, 1 and 2."""

Main = Callable[[list[str]], NoReturn]
"""Carries out a request: gets the numbers of the descriptors for request, report and stack."""


def serve(descriptor: int, device: str, main: Main) -> NoReturn:
    """Answer orders until the other end is closed: each with the process id of a supervisor.

    Args:
        descriptor: a socket that keeps messages apart.
        device: what the children run on; its modules are imported here.
        main: what a child does.
    """
    orders = socket.socket(fileno=descriptor)
    _import(device)
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(orders, ORDER_BYTES, DESCRIPTORS)
        if not message:
            os._exit(0)
        # Those that ended before: whoever ordered them holds a descriptor for each by now.
        _reap()
        parent = os.getpid()
        supervisor = os.fork()
        if supervisor == 0:
            orders.close()
            _supervise(json.loads(message), descriptors, parent, main)
        orders.send(str(supervisor).encode())
        for one in descriptors:
            os.close(one)


def _import(device: str) -> None:
    """Import what is slow, torch above all; nothing is installed yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if device == "sim":
            import judge.devices.sim.install
            import judge.instruments.simulated
        elif device == "cuda":
            import judge.instruments.cuda.instruments  # noqa: F401


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _supervise(order: dict[str, Any], descriptors: list[int], parent: int, main: Main) -> NoReturn:
    """Become a supervisor, and start a child in a copy of this process."""
    code = 1
    try:
        request, report, stack, status, stdin, output = descriptors
        os.setsid()
        os.chdir(order["scratch"])
        for number, standard in ((stdin, 0), (output, 1), (output, 2)):
            os.dup2(number, standard)
        os.close(stdin)
        os.close(output)

        def start() -> NoReturn:
            # As Python has them when it begins.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            _settle_in(order["environment"])
            main([str(request), str(report), str(stack)])

        supervise(status, order["limits"], start, parent=parent)
        code = 0
    finally:
        os._exit(code)


def _settle_in(environment: dict[str, str]) -> None:
    """Take the place of a process that was started with that environment."""
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # asked for anew
    # The server's own may be files, which can be sought in: its streams know that for ever.
    for number, (name, mode, errors) in enumerate(STREAMS):
        stream = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
