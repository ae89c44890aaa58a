"""What the host launched: kernels and copies one by one, and a graph's replay as one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from judge.devices.sim.sites import Site
from judge.instruments.observation import DeviceSpan


class Launch(NamedTuple):
    """One launch by the host."""

    site: Site
    at_us: float
    """Host time; the start of the work where that of the launch is not known."""
    spans: tuple[DeviceSpan, ...]
    """The work: one kernel or copy, or all nodes of a replay."""

    @property
    def is_replay(self) -> bool:
        """Whether a graph was replayed."""
        return len(self.spans) > 1

    @property
    def kernels(self) -> int:
        """How many of the spans are kernels."""
        return sum(span.engine == "sm" for span in self.spans)


def gather_launches(spans: Iterable[DeviceSpan]) -> list[Launch]:
    """Return the launches in the order of their calls.

    The nodes of a replay share the moment and the line of its call; two calls never do.
    """
    launches = []
    for (launched_us, site), group in groupby(sorted(spans, key=_when), key=lambda span: (span.launched_us, span.site)):
        nodes = tuple(group)
        launches.append(Launch(site, nodes[0].started_us if launched_us is None else launched_us, nodes))
    return launches


def _when(span: DeviceSpan) -> float:
    return span.started_us if span.launched_us is None else span.launched_us
