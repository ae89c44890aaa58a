"""One simulated device with its host: the place where time, order, memory and races meet."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judge.devices.sim.allocator_events import AllocatorEvents
from judge.devices.sim.clock import Task
from judge.devices.sim.cost import Cost, Work
from judge.devices.sim.graphs.libraries import Libraries
from judge.devices.sim.host import Arrival
from judge.devices.sim.profile import Profile
from judge.devices.sim.races.naming import find_variable
from judge.devices.sim.races.shadow import Shadow
from judge.devices.sim.races.vectors import HOST
from judge.devices.sim.sites import Site, find_site
from judge.devices.sim.streams import Stream
from judge.devices.sim.timeline import Timeline

if TYPE_CHECKING:
    from judge.devices.sim.graphs.nodes import Redo
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.races.second_look import SecondLook

__all__ = ["AllocatorEvents", "Machine"]

KERNEL_LIMIT = 100_000
"""Kernels that are remembered for the timeline."""


class Machine(Timeline):
    """The state of one installation of the simulation. Knows nothing of torch.

    Args:
        profile: the device's constants.
    """

    memory: Any
    """The device's memory; set by who installs the simulation."""
    pinned: Any
    """The pinned host memory; set by who installs the simulation."""
    randomness: Any
    """Which generators graphs may draw from; set by who installs the simulation."""

    def __init__(self, profile: Profile) -> None:
        super().__init__(profile, lambda *range_: self.memory.arena.view(*range_), lambda: self.shadow.settle())
        self.cost = Cost(profile)
        self.libraries = Libraries()
        self.shadow = Shadow(
            self.streams.name_of,
            host=self.host_vector,
            code_of=lambda index: None if index == HOST else find_variable(self.streams.streams[index - 1].handle),
            actor_of=self.streams.index_of,
            former_of=lambda address: self.memory.footprint.find_former(address),
        )
        """Finds races."""
        self.second_look: SecondLook | None = None
        """Shows what a race that was found could have done to the values; set by who installs the simulation."""
        self.kernels: deque[Task] = deque(maxlen=KERNEL_LIMIT)
        """Kernels, copies and replays in the order of their launches; the oldest go first when there are too many."""
        self.launches = 0
        """Launch calls of the host: one replay of a graph counts once, what goes into a capture not at all."""
        self._launch_us = profile.host.launch_us
        self._lock = self.host.lock

    @property
    def dropped_kernels(self) -> int:
        """Kernels that the list no longer holds."""
        return max(0, self.clock.count - KERNEL_LIMIT)

    def name_actor(self, index: int) -> str:
        """Return the name of a place in vector clocks: ``host``, or a stream's."""
        return self.streams.name_of(index)

    def launch(
        self,
        work: Work,
        reads: Sequence[Access],
        writes: Sequence[Access],
        *,
        stream: Stream | None = None,
        site: Site | None = None,
        redo: Redo | None = None,
        launch_us: float | None = None,
    ) -> Task:
        """Queue work on a stream (the current one if left out).

        Args:
            work: what the device does.
            reads: the bytes that it reads.
            writes: the bytes that it writes.
            stream: where it is queued.
            site: the user's line; found if left out.
            redo: does the work's bytes again, for a replay or a second look.
            launch_us: host time of the call; what the work says if left out.

        Synchronises: no; a full queue makes the host wait for room, as on the device.
        """
        if stream is None:
            stream = self.current
        if site is None:
            site = find_site()
        if launch_us is None:
            launch_us = work[4]
            if launch_us < 0.0:
                launch_us = self._launch_us
        clock = self.clock
        with self._lock:
            clock.host_us += launch_us
            if stream.capture is not None:
                return stream.capture.add(stream, work, reads, writes, site, redo)
            self.launches += 1
            if stream.host_version != self.host.version or self.streams.blocking or self.captures.active:
                self.order(stream)  # else it has nothing to do
            vector, index = stream.vector, stream.index
            vector[index] += 1
            found = self.shadow.access(index, vector, reads, writes, work[0], site)
            if found and self.second_look is not None:
                self.second_look.examine(found, index, vector, reads, writes, redo)
            task = clock.submit(stream, work, site)
            self.kernels.append(task)
            return task

    def preserve(self, writes: Sequence[Access], stream: Stream | None = None) -> None:
        """Take what a second look needs of bytes that are about to change. Call it before they do.

        Args:
            writes: the bytes.
            stream: of the operation that changes them; the current one if left out.
        """
        if stream is None:
            stream = self.current
        if stream.capture is not None:
            stream.capture.preserve(writes)
        elif self.second_look is not None and len(self.streams.streams) > 1:  # one stream alone never races
            self.second_look.preserve(stream.index, stream.vector, writes)

    def when_ordered(self, stream: Stream, arrival: Arrival) -> None:
        """Hold the bytes of the copy just launched on a stream back until the host is ordered after it."""
        self.host.defer(stream, arrival)

    def host_access(self, access: Access, name: str, *, is_write: bool) -> None:
        """Take note that the host reads or writes pinned memory."""
        reads, writes = ((), (access,)) if is_write else ((access,), ())
        with self._lock:
            self.host.act()
            self.shadow.access(HOST, self.host_vector, reads, writes, name, find_site())
