"""A script, run as ``__main__``, and how it ended."""

from __future__ import annotations

import importlib.machinery
import os
import signal
import sys
import traceback
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.harness.inspected.ending import describe_exception, describe_exit, describe_syntax, strip_frames
from judge.harness.inspected.report import Reporter

TERMINATED = 128 + signal.SIGTERM


class Terminated(SystemExit):
    """SIGTERM came: the script unwinds, and what was seen is reported."""


def end_at_sigterm() -> None:
    """Let SIGTERM, which would end the process on the spot, end the script as Ctrl-C does.

    A script's own handler takes its place. A forked copy, such as a worker that loads data, ends as it always does.
    """
    owner = os.getpid()

    def end(number: int, _: types.FrameType | None) -> None:
        if os.getpid() != owner:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        # It often comes twice, to the group and to the script itself: the second must not break off the unwinding.
        signal.signal(number, signal.SIG_IGN)
        raise Terminated(TERMINATED)

    signal.signal(signal.SIGTERM, end)


@dataclass(frozen=True)
class Script:
    """The user's file, compiled."""

    path: str
    """Absolute, as Python itself names a script."""
    code: types.CodeType | None = None
    error: dict[str, Any] | None = None
    """Why it could not be compiled: the fields of :class:`judge.models.inspection.ScriptError`."""

    @classmethod
    def read(cls, name: str) -> Script:
        """Read and compile a file; source that is no Python is shown as Python shows it."""
        path = os.path.abspath(name)  # noqa: PTH100  (symbolic links keep their name, as with python itself)
        try:
            source = Path(path).read_bytes()
            return cls(path, compile(source, path, "exec", dont_inherit=True))
        except (SyntaxError, ValueError) as fault:
            traceback.print_exception(type(fault), fault, None)
            return cls(path, error=describe_syntax(fault, path))
        except (RecursionError, MemoryError, OverflowError) as fault:
            sys.stderr.write(f"{path}: {type(fault).__name__}: {fault}\n")
            return cls(path, error=describe_syntax(fault, path))


def run_script(script: Script, reporter: Reporter) -> int:
    """Run the script as ``__main__`` and return its exit status; what it raised is shown as its own."""
    assert script.code is not None  # the caller has looked at the error
    module = types.ModuleType("__main__")
    module.__file__ = script.path
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", script.path)
    vars(module).update(__builtins__=__builtins__, __cached__=None, __spec__=None, __package__=None)
    sys.modules["__main__"] = module
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(script.path)))  # noqa: PTH120
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        exec(script.code, vars(module))
    except Terminated as ending:
        reporter.error = describe_exception(ending, "interrupted") | {"type": "SIGTERM", "message": ""}
        return TERMINATED
    except SystemExit as ending:
        return _exit(ending, reporter)
    except KeyboardInterrupt as ending:
        reporter.error = describe_exception(ending, "interrupted")
        return 130
    except BaseException as fault:
        reporter.error = describe_exception(fault)
        _show(fault)
        return 1
    return 0


def _exit(ending: SystemExit, reporter: Reporter) -> int:
    """Return the status that ``sys.exit`` was given; a text is printed, as Python does it."""
    if ending.code is None or ending.code == 0:
        return 0
    reporter.error = describe_exit(ending)
    if isinstance(ending.code, int):
        return ending.code & 0xFF
    sys.stderr.write(f"{ending.code}\n")
    return 1


def _show(fault: BaseException) -> None:
    """Print a traceback in which the judge does not occur; a hook of the script's own is used."""
    strip_frames(fault)
    try:
        sys.excepthook(type(fault), fault, fault.__traceback__)
    except BaseException:
        traceback.print_exception(fault)
