"""The clock of one test: an alarm inside the process, and a stack for when the alarm can't be heard."""

from __future__ import annotations

import contextlib
import faulthandler
import signal
from collections.abc import Callable, Generator
from types import CodeType, FrameType

STACK_AFTER_S = 0.5
"""A stack is written this long after the alarm, when Python never came back to hear it."""
REPEAT_S = 0.25
"""The alarm rings again, for code that swallows it."""


class TimeIsUp(BaseException):
    """The clock has struck. No ``Exception``, so that ``except Exception`` lets it through."""


class Clock:
    """Alarm for loading and for each test.

    Args:
        stack_descriptor: where faulthandler writes.
        is_busy: whether an exception must wait, because the channel is inside a frame.
    """

    def __init__(self, stack_descriptor: int, is_busy: Callable[[], bool]) -> None:
        self._stack_descriptor = stack_descriptor
        self._is_busy = is_busy
        self._is_open = False
        self.stack: list[tuple[CodeType, int]] | None = None
        """Code and line of each frame when the clock struck, outermost first; ``None`` until then."""

    @property
    def has_struck(self) -> bool:
        """Whether the limit was passed, even if the alarm was swallowed."""
        return self.stack is not None

    def arm_stack(self, limit_s: float) -> None:
        """Write every thread's stack when ``limit_s`` has been passed by half a second."""
        self.stack = None
        faulthandler.dump_traceback_later(limit_s + STACK_AFTER_S, file=self._stack_descriptor)

    def start(self, limit_s: float) -> None:
        """Raise :class:`TimeIsUp` in the main thread after ``limit_s`` seconds, inside :meth:`open`."""
        signal.signal(signal.SIGALRM, self._strike)
        signal.setitimer(signal.ITIMER_REAL, limit_s, REPEAT_S)

    @contextlib.contextmanager
    def open(self) -> Generator[None]:
        """Let :class:`TimeIsUp` be raised inside, and nowhere else: our own code is never torn."""
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False

    def stop(self) -> None:
        """Silence the alarm and the stack."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()

    def _strike(self, _signal: int, frame: FrameType | None) -> None:
        if self._is_busy() or not self._is_open:
            self.stack = self.stack or []
            return  # the next ring comes soon
        if not self.stack:
            stack = []
            while frame is not None:
                stack.append((frame.f_code, frame.f_lineno))
                frame = frame.f_back
            self.stack = stack[::-1]
        raise TimeIsUp
