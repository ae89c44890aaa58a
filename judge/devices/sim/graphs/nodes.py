"""Nodes of a graph: one kernel, copy or external event each, with what it waits for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from judge.devices.sim.cost import Work
    from judge.devices.sim.events import Event
    from judge.devices.sim.host import Arrival
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.sites import Site

Redo = Callable[[], "Arrival | None"]
"""Does a node's work on the bytes at its addresses. What it returns are bytes for the host, which is to see them once
it is ordered after the node."""

Kind = Literal["work", "record", "wait"]
"""A kernel or copy; or the recording of, or the wait for, an external event."""


class Node(NamedTuple):
    """One node of a graph."""

    kind: Kind
    branch: int
    """Number of the capturing stream that it was put on, 0 for the one that the capture began on."""
    dependencies: tuple[int, ...]
    """Numbers of the nodes that it directly waits for; all are smaller than its own."""
    site: Site
    """Where the user's code asked for it."""
    work: Work | None = None
    reads: Sequence[Access] = ()
    writes: Sequence[Access] = ()
    redo: Redo | None = None
    event: Event | None = None


def find_ancestors(nodes: Sequence[Node], tails: Iterable[int]) -> set[int]:
    """Return the numbers of some nodes and of all that these wait for, directly or not."""
    reached = set(tails)
    open_ends = list(reached)
    while open_ends:
        for before in nodes[open_ends.pop()].dependencies:
            if before not in reached:
                reached.add(before)
                open_ends.append(before)
    return reached
