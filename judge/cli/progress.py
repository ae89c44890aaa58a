"""One line that says what is going on, on a terminal only; it is gone when the report comes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.cells import set_cell_size

from judge.cli import outlet
from judge.report.inert import plain

CLEAR_LINE = "\r\x1b[K"


@contextmanager
def open_live_line(*, is_wanted: bool = True) -> Iterator[Callable[[str], None] | None]:
    """Give the function that replaces the line; ``None`` where nobody is looking, or no line can be replaced."""
    can_clear = os.environ.get("TERM") not in (None, "dumb", "unknown")
    if not (is_wanted and can_clear and outlet.is_terminal(sys.stdout) and outlet.is_terminal(sys.stderr)):
        yield None
        return
    line = ""

    def show(text: str) -> None:
        nonlocal line
        if text != line:
            line = text
            _draw(text)

    try:
        yield show
    finally:
        _draw("")


def _draw(line: str) -> None:
    import shutil

    # One column stays free: some terminals wrap as soon as the last one is filled.
    width = shutil.get_terminal_size().columns - 1
    shown = plain(line).replace("\n", " ")
    sys.stderr.write(CLEAR_LINE + (set_cell_size(shown, width).rstrip() if shown else ""))
    sys.stderr.flush()
