"""An instantiated graph: what a replay puts on a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judge.devices.sim.cost import Work
from judge.devices.sim.graphs.nodes import Node
from judge.devices.sim.races.vectors import merge
from judge.devices.sim.sites import Site, find_site
from judge.devices.sim.streams import Stream

if TYPE_CHECKING:
    from judge.devices.sim.clock import Task
    from judge.devices.sim.graphs.capture import Capture
    from judge.devices.sim.machine import Machine

_SHORTEST_US = 0.1


class Executable:
    """Nodes that run again and again on the addresses they were captured with.

    Two launches of the same executable never run side by side: the later one waits, on whatever stream it is.

    Args:
        machine: the device.
        capture: what was captured.

    Source: ``cudaGraphLaunch``.
    """

    def __init__(self, machine: Machine, capture: Capture) -> None:
        nodes = self.nodes = capture.nodes
        self._footprint = capture.footprint
        self._machine = machine
        self._writes = [access for node in nodes for access in node.writes]
        self._works = [_shorten(node.work, machine.profile.engines.graph_gap_us) for node in nodes]
        self._tails = _find_tails(nodes)
        self._lanes: dict[tuple[Stream, int], Stream] = {}
        """Queues of the branches beside the first, for each stream that it was replayed on."""
        self._vector: list[int] = []
        self._frontier: list[Task] = []

    def launch(self, stream: Stream) -> None:
        """Replay on a stream.

        Synchronises: no.
        """
        machine = self._machine
        site = find_site()
        machine.launches += 1
        host = machine.profile.host
        machine.clock.host_us += host.graph_launch_us + host.graph_node_us * len(self.nodes)
        machine.order(stream)
        self._order_after_last(stream)
        stream.vector[stream.index] += 1
        machine.preserve(self._writes)
        if machine.shadow is not None:
            machine.shadow.replay(stream.index, stream.vector, self._footprint, site)
        self._queue(stream, site)
        self._run(stream)
        self._vector = stream.vector.copy()
        self._frontier = stream.frontier

    def _order_after_last(self, stream: Stream) -> None:
        merge(stream.vector, self._vector)
        if self._frontier and self._frontier is not stream.frontier:
            stream.frontier = [*stream.frontier, *(task for task in self._frontier if task not in stream.frontier)]

    def _queue(self, stream: Stream, site: Site) -> None:
        """Put each node on its branch's queue, after the nodes that it waits for."""
        machine = self._machine
        before = stream.frontier
        ends: list[list[Task]] = []
        for node, work in zip(self.nodes, self._works, strict=True):
            after = before if not node.dependencies else [task for at in node.dependencies for task in ends[at]]
            if node.event is not None:
                ends.append(self._meet(node, stream, after))
                continue
            assert work is not None
            lane = self._find_lane(stream, node.branch)
            lane.frontier = after
            task = machine.clock.submit(lane, work, site)
            machine.kernels.append(task)
            lane.inflight.pop()  # a launch takes one place in the queue, however many nodes it has
            ends.append([task])
        stream.frontier = [task for at in self._tails for task in ends[at]] or before
        if self.nodes and stream.frontier:
            stream.inflight.append(stream.frontier[-1])

    def _meet(self, node: Node, stream: Stream, after: list[Task]) -> list[Task]:
        """Record or wait for an external event; return what the next node waits for."""
        event = node.event
        assert event is not None
        if node.kind == "record":
            event.create()
            event.recorded = self._machine.mark(stream)._replace(tasks=after)
            return after
        if event.recorded is None:
            return after
        merge(stream.vector, event.recorded.vector)
        return [*after, *event.recorded.tasks]

    def _run(self, stream: Stream) -> None:
        """Do the nodes' work on the bytes."""
        machine = self._machine
        for node in self.nodes:
            if node.redo is not None:
                with machine.host.as_seen_by(stream.vector):
                    arrival = node.redo()
                if arrival is not None:
                    machine.when_ordered(stream, arrival)

    def _find_lane(self, stream: Stream, branch: int) -> Stream:
        if branch == 0:
            return stream
        lane = self._lanes.get((stream, branch))
        if lane is None:
            lane = Stream(-branch, stream.index, stream.priority, stream.name, is_blocking=False)
            self._lanes[stream, branch] = lane
        return lane


def _shorten(work: Work | None, gap_us: float) -> Work | None:
    if work is None:
        return None
    return work._replace(duration_us=max(_SHORTEST_US, work.duration_us + gap_us))


def _find_tails(nodes: Sequence[Node]) -> list[int]:
    """Return the numbers of the nodes that no other waits for."""
    awaited = {before for node in nodes for before in node.dependencies}
    return [at for at in range(len(nodes)) if at not in awaited]
