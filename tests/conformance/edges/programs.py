"""Small programs run as scripts, and what is comparable about how they end."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from typing import NamedTuple

from tests.conformance.processes import run_programs

PREAMBLE = "import torch\n"

_ERROR_LINE = re.compile(r"([\w.]+): (.*)")
_WARNING_LINE = re.compile(r".*: (\w*Warning): (.*)")
_TRIGGER = re.compile(r" \(Triggered internally at .*\)")
_OTHERS = re.compile(r"Process \d+ has [\d.]+ \w+ memory in use\. ")
_SEGMENTS = re.compile(r"\[\(\(\d+, \d+\), .*\]")
_FREE = re.compile(r"of which [\d.]+ \w+ is free|this process has [\d.]+ \w+ memory in use")


class Ending(NamedTuple):
    """How a program ended."""

    error: str | None
    """Type and first line of the exception that ended it."""
    out: str | None
    """What it printed; ``None`` when an exception ended it."""
    warnings: tuple[str, ...] = ()
    """Category and text of each warning, without duplicates."""


def run_simulated(code: str) -> Ending:
    """Run a program on a simulated device of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
        from judge.devices.sim.install import install

    out = io.StringIO()
    error = None
    program = compile(PREAMBLE + code, "<string>", "exec")
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(out),
        install(),
    ):
        warnings.simplefilter("default")
        try:
            exec(program, {"__name__": "__main__"})
        except Exception as exception:
            kind = type(exception)
            module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
            error = f"{module}{kind.__qualname__}: {str(exception).splitlines()[0]}"
            del exception
    seen = tuple(dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught))
    return _normalise(Ending(error, None if error else out.getvalue(), seen))


def run_real(code: str) -> Ending:
    """Run a program on the real GPU, in a process of its own."""
    return read_ending(*run_programs([PREAMBLE + code])[0])


def read_ending(code: int, out: str, err: str) -> Ending:
    """Return the ending of a program that ran as a process.

    Args:
        code: its exit status.
        out: what it wrote to standard output.
        err: the end of what it wrote to standard error.
    """
    lines = err.splitlines()
    error = next((line for line in reversed(lines) if _ERROR_LINE.fullmatch(line)), None) if code else None
    matches = [_WARNING_LINE.fullmatch(line) for line in lines]
    seen = tuple(f"{match[1]}: {match[2]}" for match in matches if match is not None)
    return _normalise(Ending(error, None if code else out, seen))


def _normalise(ending: Ending) -> Ending:
    """Take out what differs between two real machines: PyTorch's source lines, other users of the GPU, addresses."""
    error = ending.error
    if error is not None:
        error = _FREE.sub("…", _OTHERS.sub("", error))
    out = ending.out
    if out is not None:
        out = _SEGMENTS.sub(lambda found: str(sorted(ast.literal_eval(found[0]))), out)
    return ending._replace(error=error, out=out, warnings=tuple(_TRIGGER.sub("", text) for text in ending.warnings))
