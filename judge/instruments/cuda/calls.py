"""Calls of the program, as intervals of host time: what the profiler saw happen is put down to the call around it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from judge.devices.sim.sites import Site

FARTHEST = 64
"""Earlier calls that are looked at for one that is still going on: calls nest, but not deeply."""
SLACKS_NS = (5_000, 50_000)
"""How far the profiler's time may be off: as a rule, and at worst."""


@dataclass(slots=True)
class Call:
    """One operation, or one explicit synchronisation, on its way."""

    name: str
    """The operator's name, ``_local_scalar_dense``; or what the user wrote, ``torch.cuda.synchronize``."""
    site: Site
    started_ns: int
    ended_ns: int = 0
    """0 while it goes on, and for good when it raised."""
    warnings: int = 0
    """How often sync debug mode spoke during it."""
    is_explicit: bool = False
    """Whether it is a synchronisation that the user asked for by name."""


class CallLog:
    """All calls, in the order of their starts."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.late_warnings: list[tuple[int, Site]] = []
        """Time and line of warnings that came when no call was going on: PyTorch may hold them back until a return."""
        self._starts: list[int] = []

    def begin(self, call: Call) -> None:
        """Write down a call that begins now."""
        self.calls.append(call)

    def index(self) -> None:
        """Sort what has been written, so that it can be searched."""
        self.calls.sort(key=lambda call: call.started_ns)
        self._starts = [call.started_ns for call in self.calls]

    def find(self, at_ns: int) -> Call | None:
        """Return the innermost call that a moment falls into, give or take the precision of the profiler's clock.

        Precondition: ``index`` was called after the last ``begin``.
        """
        moments = [at_ns]
        for slack_ns in SLACKS_NS:
            moments += [at_ns + slack_ns, at_ns - slack_ns]
        return next((call for moment in moments if (call := self._find(moment)) is not None), None)

    def _find(self, at_ns: int) -> Call | None:
        last = bisect_right(self._starts, at_ns) - 1
        for at in range(last, max(last - FARTHEST, -1), -1):
            if self.calls[at].ended_ns >= at_ns:
                return self.calls[at]
        return None
