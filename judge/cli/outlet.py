"""Where text leaves the program: a reader that went away, or a full disk, is met here and nowhere else."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from judge.report.inert import plain

if TYPE_CHECKING:
    from rich.console import Console


class OutputLost(Exception):
    """Standard output could not be written, for another reason than a reader that went away."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def prepare() -> None:
    """Let every character through: what the terminal's encoding lacks is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def write(text: str) -> None:
    """Write a line or page to standard output; a closed pipe (``| head``) is no fault.

    Control characters are shown, not obeyed: titles and file names are other people's.

    Raises:
        OutputLost: the disk is full, or the device is broken.
    """
    _put(sys.stdout, plain(text))


def tell(text: str) -> None:
    """Write a line about the call itself to standard error."""
    with contextlib.suppress(OutputLost):
        _put(sys.stderr, plain(text))


def flush() -> None:
    """Push out what is left in the buffers, so that the interpreter finds nothing to fail on at its exit."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OutputLost):
            _put(stream, "", end="")


def draw(paint: Callable[[Console], None], *, is_paged: bool = False) -> None:
    """Let ``paint`` draw on a rich console of standard output's width and colours, and write the result.

    Args:
        paint: draws; it never meets a closed pipe.
        is_paged: show the result in the user's pager, where standard output is a terminal.

    Raises:
        OutputLost: as for :func:`write`.
    """
    from rich.console import Console

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    page = io.TextIOWrapper(io.BytesIO(), encoding, errors="backslashreplace", newline="")
    has_terminal = is_terminal(sys.stdout)
    # None leaves the choice to rich, which honours FORCE_COLOR.
    paint(Console(file=page, force_terminal=True if has_terminal else None, highlight=False))
    page.seek(0)
    text = page.read().rstrip("\n")
    if is_paged and has_terminal:
        import pydoc

        os.environ.setdefault("LESS", "-RFX")
        pydoc.pager(text)
    else:
        _put(sys.stdout, text)


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a person may be looking at the stream; a closed one has no reader."""
    return stream is not None and not stream.closed and stream.isatty()


def _put(stream: TextIO | None, text: str, end: str = "\n") -> None:
    if stream is None:  # closed by the caller: `>&-`
        return
    try:
        stream.write(text + end)
        stream.flush()
    except BrokenPipeError:
        _abandon(stream)
    except OSError as fault:
        _abandon(stream)
        raise OutputLost(fault) from fault


def _abandon(stream: TextIO) -> None:
    """Point the stream at nothing: what is still in its buffer must not fail once more."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(nothing, stream.fileno())
    os.close(nothing)
