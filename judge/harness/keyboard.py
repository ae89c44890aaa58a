"""Standard input that shows up in a stack: reading from it can be told from other waiting."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Keyboard(io.RawIOBase):
    """Descriptor 0, read by a Python method."""

    def readable(self) -> bool:
        """It can be read."""
        return True

    def fileno(self) -> int:
        """Descriptor 0."""
        return 0

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read what is there, or wait for it."""
        view = memoryview(buffer).cast("B")
        data = os.read(0, len(view))
        view[: len(data)] = data
        return len(data)


def install_keyboard() -> None:
    """Make ``sys.stdin`` read descriptor 0 through :class:`Keyboard`."""
    sys.stdin = io.TextIOWrapper(io.BufferedReader(Keyboard()), encoding="utf-8", errors="replace")


def is_reading_keyboard(stack: Iterable[tuple[CodeType, int]]) -> bool:
    """Whether a stack stands inside a read of :class:`Keyboard`."""
    return any(code is Keyboard.readinto.__code__ for code, _line in stack)
