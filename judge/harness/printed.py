"""What a test prints: passed on as it is written, and kept to a few kilobytes."""

from __future__ import annotations

import io
import sys
from typing import BinaryIO, TextIO

HEAD_CHARACTERS = 2048
TAIL_CHARACTERS = 4096


class Printed:
    """First and last characters of everything printed since :meth:`clear`."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._head = ""
        self._tail = ""
        self._dropped = 0

    def add(self, text: str) -> None:
        """Keep ``text`` as far as there is room."""
        room = HEAD_CHARACTERS - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        if text:
            tail = self._tail + text[-TAIL_CHARACTERS:]
            self._dropped += len(self._tail) + len(text) - min(len(tail), TAIL_CHARACTERS)
            self._tail = tail[-TAIL_CHARACTERS:]

    def __str__(self) -> str:
        gap = f"\n[… +{self._dropped} …]\n" if self._dropped else ""
        return f"{self._head}{gap}{self._tail}"


class Tee(io.TextIOBase):
    """Text stream that writes to a real one and to :class:`Printed`."""

    def __init__(self, real: TextIO, printed: Printed) -> None:
        self._real = real
        self._printed = printed

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has an attribute
        """Encoding of the real stream."""
        return self._real.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]  # typeshed has an attribute
        """Error handler of the real stream."""
        return self._real.errors

    @property
    def buffer(self) -> BinaryIO:
        """Bytes written here reach the real stream and are not kept."""
        return self._real.buffer

    def writable(self) -> bool:
        """It can be written."""
        return True

    def fileno(self) -> int:
        """Descriptor of the real stream."""
        return self._real.fileno()

    def write(self, text: str, /) -> int:
        """Write and keep ``text``."""
        self._real.write(text)
        self._printed.add(text)
        return len(text)

    def flush(self) -> None:
        """Flush the real stream."""
        self._real.flush()

    def close(self) -> None:
        """Stay open: the streams belong to the process."""


def install_tee() -> Printed:
    """Put a tee over ``sys.stdout`` and ``sys.stderr`` and return what they share."""
    printed = Printed()
    for name in ("stdout", "stderr"):
        real = getattr(sys, name)
        # Line by line, so that a crash loses nothing; and nothing printed may fail to encode.
        real.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
        setattr(sys, name, Tee(real, printed))
    return printed
