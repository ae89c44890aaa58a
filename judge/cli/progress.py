"""One line that says which test runs, on a terminal only; it is gone when the report comes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.cells import set_cell_size

from judge.cli import outlet
from judge.cli.session import Session
from judge.report.inert import plain

CLEAR_LINE = "\r\x1b[K"


@contextmanager
def show_progress(session: Session, *, is_wanted: bool) -> Iterator[Callable[[int, int, str | None], None] | None]:
    """Give the function that the runner tells about its progress; ``None`` where nobody is looking."""
    if not (is_wanted and outlet.is_terminal(sys.stdout) and outlet.is_terminal(sys.stderr)):
        yield None
        return
    line = ""

    def show(finished: int, total: int, running: str | None) -> None:
        nonlocal line
        new = describe(session, finished, total, running)
        if new != line:
            line = new
            _draw(new)

    try:
        yield show
    finally:
        _draw("")


def describe(session: Session, finished: int, total: int, running: str | None) -> str:
    """Return what to show: how many tests of how many are done, and which one runs."""
    if not total:
        return session.say("cli.progress_loading")
    return session.say("cli.progress", finished=finished, total=total, test=(running or "").rpartition("::")[2])


def _draw(line: str) -> None:
    import shutil

    # One column stays free: some terminals wrap as soon as the last one is filled.
    width = shutil.get_terminal_size().columns - 1
    shown = plain(line).replace("\n", " ")
    sys.stderr.write(CLEAR_LINE + (set_cell_size(shown, width).rstrip() if shown else ""))
    sys.stderr.flush()
