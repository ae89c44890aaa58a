"""What a captured graph touches: checked at each replay as one step of the replaying stream."""

from __future__ import annotations

from collections.abc import Sequence

from judge.devices.sim.races.geometry import Access
from judge.devices.sim.races.owners import Owner
from judge.devices.sim.sites import Site

REPLAY = "graph replay"
"""The name of the operation that a replay is."""

Node = tuple[Sequence[Access], Sequence[Access], str]
"""Reads, writes, and the name of the operation."""


class Footprint:
    """The accesses of a graph's nodes, each set of bytes once for reads and once for writes: the last one counts.

    Inside one replay the graph's own edges give the order, so only the outside can race with it. A race is told at the
    line that replays, since that is where a wait is missing.
    """

    def __init__(self) -> None:
        self._reads: dict[Access, str] = {}
        self._writes: dict[Access, str] = {}
        self._nodes: list[Node] | None = None
        self.held: list[tuple[Owner, Access, str, Site]] = []
        """Bytes of tensors from outside, which have to live as long as the replays: by whom and where captured."""

    def add(self, reads: Sequence[Access], writes: Sequence[Access], name: str, site: Site) -> None:
        """Enter a node, in the order of capture.

        Args:
            reads: bytes that it reads.
            writes: bytes that it writes.
            name: of the operation.
            site: the line that captured it.
        """
        op = f"{REPLAY}: {name} of line {site.line}"
        for access in reads:
            self._reads[access] = op
        for access in writes:
            self._writes[access] = op
        self._nodes = None

    def nodes(self) -> Sequence[Node]:
        """Return the accesses, by operation."""
        if self._nodes is None:
            nodes: dict[str, tuple[list[Access], list[Access]]] = {}
            for at, accesses in enumerate((self._reads, self._writes)):
                for access, op in accesses.items():
                    if access.high > access.low:
                        nodes.setdefault(op, ([], []))[at].append(access)
            self._nodes = [(tuple(reads), tuple(writes), op) for op, (reads, writes) in nodes.items()]
        return self._nodes
