"""The writing end of the private pipe to the parent."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Protocol

from judge.models.wire import encode_frame

FIRST_HIGH_DESCRIPTOR = 200
"""Above what careless code closes in a loop, below the usual soft limit of 256."""


class Sink(Protocol):
    """Takes records: a pipe when judged, nothing when the learner runs pytest."""

    sent_bytes: int
    """Of all records so far."""

    def send(self, kind: str, blob: bytes = b"", **fields: object) -> None:
        """Take one record."""


class Nowhere:
    """Sink of a plain pytest run: records are checked by their makers and then dropped."""

    sent_bytes = 0

    def send(self, kind: str, blob: bytes = b"", **fields: object) -> None:
        """Drop the record."""


class Channel:
    """Writes whole frames, one at a time.

    Args:
        descriptor: the pipe's end; it should be one of :func:`hide_descriptor`.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._writer: int | None = None
        self.sent_bytes = 0

    def is_writing(self) -> bool:
        """Whether the main thread is inside a frame, so that an exception would tear it."""
        return self._writer == threading.main_thread().ident

    def end_copy(self) -> None:
        """End the process if it is a forked copy: it would repeat our records."""
        if os.getpid() != self._owner:
            os._exit(0)

    def send(self, kind: str, blob: bytes = b"", **fields: object) -> None:
        """Write one record."""
        self.end_copy()
        frame = memoryview(encode_frame({"kind": kind, **fields}, blob))
        with self._lock:
            self.sent_bytes += len(frame)
            self._writer = threading.get_ident()
            try:
                while frame:
                    frame = frame[os.write(self._descriptor, frame) :]
            finally:
                self._writer = None


def hide_descriptor(descriptor: int) -> int:
    """Move a descriptor out of the low numbers, close-on-exec, and return its new number."""
    import fcntl

    os.set_inheritable(descriptor, False)
    with contextlib.suppress(OSError):
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_HIGH_DESCRIPTOR)
        os.close(descriptor)
        return high
    return descriptor
