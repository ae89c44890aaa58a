"""Calls of the program, as intervals of host time: what the profiler saw happen is put down to the call around it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container
from dataclasses import dataclass

from judge.devices.sim.sites import Site

FARTHEST = 64
"""Earlier calls that are looked at for one that is still going on: calls nest, but not deeply."""
SLACK_NS = 50_000
"""How far the profiler's time may be off."""


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

    def find(self, at_ns: int, names: Container[str] = ()) -> Call | None:
        """Return the innermost call that a moment falls into, give or take the precision of the profiler's clock.

        Precondition: ``index`` was called after the last ``begin``.

        Args:
            at_ns: the moment.
            names: calls of these names are preferred, where what happened then is known to be theirs.
        """
        around = self._list_around(at_ns)
        named = [call for call in around if call.name in names]
        # Of calls that are equally near, which is to say around the moment, the one that began last is the innermost.
        return min(named or around, key=lambda call: (_distance_ns(call, at_ns), -call.started_ns), default=None)

    def _list_around(self, at_ns: int) -> list[Call]:
        """Return the calls that have ended and lie no farther from a moment than its precision."""
        last = bisect_right(self._starts, at_ns + SLACK_NS)
        recent = self.calls[max(bisect_right(self._starts, at_ns) - FARTHEST, 0) : last]
        return [call for call in recent if call.ended_ns and _distance_ns(call, at_ns) <= SLACK_NS]


def _distance_ns(call: Call, at_ns: int) -> int:
    return max(call.started_ns - at_ns, at_ns - call.ended_ns, 0)
