"""What a captured graph touches: checked at each replay as one step of the replaying stream."""

from __future__ import annotations

from collections.abc import Sequence

from judge.devices.sim.races.geometry import Access
from judge.devices.sim.races.owners import Owner
from judge.devices.sim.sites import Site

Node = tuple[Sequence[Access], Sequence[Access], str, Site]
"""Reads, writes, name and the line that captured it."""


class Footprint:
    """The accesses of a graph's nodes, each set of bytes once for reads and once for writes: the last one counts.

    Inside one replay the graph's own edges give the order, so only the outside can race with it.
    """

    def __init__(self) -> None:
        self._reads: dict[Access, tuple[str, Site]] = {}
        self._writes: dict[Access, tuple[str, Site]] = {}
        self._nodes: list[Node] | None = None
        self.held: list[tuple[Owner, Access, str, Site]] = []
        """Bytes of tensors from outside, which have to live as long as the replays: by whom and where captured."""

    def add(self, reads: Sequence[Access], writes: Sequence[Access], name: str, site: Site) -> None:
        """Enter a node, in the order of capture."""
        for access in reads:
            self._reads[access] = (name, site)
        for access in writes:
            self._writes[access] = (name, site)
        self._nodes = None

    def nodes(self) -> Sequence[Node]:
        """Return the accesses, by node."""
        if self._nodes is None:
            nodes: dict[tuple[str, Site], tuple[list[Access], list[Access]]] = {}
            for at, accesses in enumerate((self._reads, self._writes)):
                for access, node in accesses.items():
                    if access.high > access.low:
                        nodes.setdefault(node, ([], []))[at].append(access)
            self._nodes = [(tuple(reads), tuple(writes), *node) for node, (reads, writes) in nodes.items()]
        return self._nodes
