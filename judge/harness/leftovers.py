"""What a test may leave behind in the process, put back before the next one."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import locale
import os
import random
import signal
import sys
import threading
import traceback
import warnings
from types import ModuleType


class Process:
    """State of the interpreter at one moment.

    Signal handlers are kept by number; what can't be read or set by Python is left alone.
    """

    def __init__(self) -> None:
        self._folder = os.getcwd()  # noqa: PTH109  (text is enough)
        self._environment = dict(os.environ)
        self._path = list(sys.path)
        self._meta_path = list(sys.meta_path)
        self._recursion_limit = sys.getrecursionlimit()
        self._switch_interval_s = sys.getswitchinterval()
        self._filters = list(warnings.filters)
        self._locale = locale.setlocale(locale.LC_ALL)
        self._handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
        self._hooks = (sys.excepthook, sys.unraisablehook, sys.displayhook, threading.excepthook)
        self._streams = (sys.stdin, sys.stdout, sys.stderr)

    def keep_settings(self) -> None:
        """Let environment and import path stand as they are now: what an import set for itself."""
        self._environment = dict(os.environ)
        self._path = list(sys.path)
        self._meta_path = list(sys.meta_path)

    def restore(self) -> None:
        """Put everything back as it was when this was made."""
        with contextlib.suppress(OSError):
            os.makedirs(self._folder, exist_ok=True)  # noqa: PTH103  (text is enough)
            os.chdir(self._folder)
        if dict(os.environ) != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        sys.path[:] = self._path
        sys.meta_path[:] = self._meta_path
        sys.setrecursionlimit(self._recursion_limit)
        sys.setswitchinterval(self._switch_interval_s)
        if warnings.filters != self._filters:
            warnings.filters[:] = self._filters  # type: ignore[index]  # a list, whatever typeshed says
            warnings._filters_mutated()  # type: ignore[attr-defined]  # the cache of every module must go
        if locale.setlocale(locale.LC_ALL) != self._locale:
            locale.setlocale(locale.LC_ALL, self._locale)
        self._restore_signals()
        sys.excepthook, sys.unraisablehook, sys.displayhook, threading.excepthook = self._hooks
        sys.stdin, sys.stdout, sys.stderr = self._streams
        sys.settrace(None)
        sys.setprofile(None)
        gc.enable()

    def _restore_signals(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._handlers.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())


def forget_last_exception() -> None:
    """Let go of the exception that pytest keeps for a debugger."""
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)


def release_locals(fault: BaseException) -> None:
    """Let go of what the functions held that an exception went through: a failed test's tensors are no other's.

    Exception and frames hold each other, until the next search for garbage.
    """
    seen: set[int] = set()
    pending: list[BaseException | None] = [fault]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        traceback.clear_frames(one.__traceback__)
        pending += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            pending += one.exceptions


def restore_torch() -> None:
    """Give torch its own defaults back; nothing happens where it is not imported."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "set_default_device"):
        return
    torch.set_default_dtype(torch.float32)
    if torch.get_default_device().type != "cpu":
        torch.set_default_device(None)
    torch.set_grad_enabled(True)
    if torch.are_deterministic_algorithms_enabled():
        torch.use_deterministic_algorithms(False)  # imports the compiler, for seconds, the first time
    torch.set_float32_matmul_precision("highest")
    threads = _torch_threads(torch)
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    if torch.cuda.is_initialized():
        torch.cuda.set_device(0)
        torch.cuda.set_stream(torch.cuda.default_stream())
        if torch.cuda.get_sync_debug_mode():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the mode is a prototype, it says; not the learner's doing
                torch.cuda.set_sync_debug_mode("default")


_first_threads: list[int] = []


def _torch_threads(torch: ModuleType) -> int:
    """Return how many threads torch had when it was first seen."""
    if not _first_threads:
        _first_threads.append(torch.get_num_threads())
    return _first_threads[0]


def seed_everything(seed: int, test: str) -> None:
    """Seed every generator of the process from the run's seed and the test's id."""
    drawn = int.from_bytes(hashlib.sha256(f"{seed}/{test}".encode()).digest()[:4], "big")
    random.seed(drawn)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        numpy.random.seed(drawn)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        torch.manual_seed(drawn)
