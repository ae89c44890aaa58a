"""One simulated device with its host: the place where time, order, memory and races meet."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from judge.devices.sim.clock import Clock, Task
from judge.devices.sim.cost import Cost, Work
from judge.devices.sim.events import Event, Moment
from judge.devices.sim.graphs.captures import Captures
from judge.devices.sim.graphs.libraries import Libraries
from judge.devices.sim.ledger import HostWait, Ledger
from judge.devices.sim.profile import Profile
from judge.devices.sim.races.shadow import NOBODY, Shadow
from judge.devices.sim.races.vectors import HOST, merge
from judge.devices.sim.sites import Site, find_site
from judge.devices.sim.streams import Stream, StreamPool

if TYPE_CHECKING:
    from judge.devices.sim.graphs.nodes import Redo
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.races.second_look import SecondLook

KERNEL_LIMIT = 200_000
"""Kernels that are remembered for the timeline."""


class Machine:
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
        self.profile = profile
        self.cost = Cost(profile)
        self.clock = Clock(profile)
        self._launch_us = profile.host.launch_us
        self.streams = StreamPool()
        self.ledger = Ledger()
        self.kernels: deque[Task] = deque(maxlen=KERNEL_LIMIT)
        """Kernels, copies and replays in the order of their launches; the oldest go first when there are too many."""
        self.launches = 0
        """Launch calls of the host; one replay of a graph counts once."""
        self.host_vector: list[int] = [0]
        """What the host is ordered after, itself included. Always this list: others hold it too."""
        self.shadow = Shadow(self.name_actor, host=self.host_vector, actor_of=self._find_actor)
        """Finds races."""
        self.second_look: SecondLook | None = None
        """Shows what a race that was found could have done to the values; set by who installs the simulation."""
        self.captures = Captures(lambda address, size: self.memory.arena.view(address, size))
        """Graph captures that are going on."""
        self.libraries = Libraries()
        self.flushers: list[Callable[[], None]] = []
        """Called after each wait of the host, for whoever holds back bytes until then."""
        self.on_switch: Callable[[Stream], None] | None = None
        """Called with each stream that becomes a thread's current one."""
        self._host_version = 0
        self._here = threading.local()
        self._deferred: deque[tuple[int, int, Callable[[], None]]] = deque()

    # Streams

    @property
    def current(self) -> Stream:
        """The current stream of this thread."""
        try:
            return self._here.stream  # type: ignore[no-any-return]  # thread-local storage is untyped
        except AttributeError:
            self._here.stream = default = self.streams.default
            return default

    @current.setter
    def current(self, stream: Stream) -> None:
        self._here.stream = stream
        if self.on_switch is not None:
            self.on_switch(stream)

    @property
    def dropped_kernels(self) -> int:
        """Kernels that the list no longer holds."""
        return max(0, self.clock.count - KERNEL_LIMIT)

    def name_actor(self, index: int) -> str:
        """Return the name of a place in vector clocks: ``host``, or a stream's."""
        return "host" if index == HOST else self.streams.streams[index - 1].name

    def _find_actor(self, handle: int) -> int:
        stream = self.streams.find(handle)
        return NOBODY if stream is None else stream.index

    # Work

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
        self.launches += 1
        clock = self.clock
        if launch_us is None:
            launch_us = work[4] if work[4] >= 0.0 else self._launch_us
        clock.host_us += launch_us
        if stream.capture is not None:
            return stream.capture.add(stream, work, reads, writes, site, redo)
        self.order(stream)
        vector, index = stream.vector, stream.index
        vector[index] += 1
        found = self.shadow.access(index, vector, reads, writes, work[0], site)
        if found and self.second_look is not None:
            self.second_look.examine(found, index, vector, reads, writes, redo)
        task = clock.submit(stream, work, site)
        self.kernels.append(task)
        return task

    def order(self, stream: Stream) -> None:
        """Order a stream's next work after all the host knows and after what its kind waits for by itself.

        The default stream waits for every blocking stream, and each of those for the default stream.
        Streams of the pools wait for neither.

        Raises:
            RuntimeError: CUDA error 906, the default stream would wait for a blocking stream that is captured.
        """
        if stream.host_version != self._host_version:
            merge(stream.vector, self.host_vector)
            stream.host_version = self._host_version
        if stream.handle == 0 and self.captures.active:
            self.captures.check_legacy()
        if self.streams.blocking:
            if stream.handle == 0:
                for other in self.streams.blocking:
                    self._follow(stream, other)
            elif stream.is_blocking:
                self._follow(stream, self.streams.default)

    def _follow(self, stream: Stream, other: Stream) -> None:
        merge(stream.vector, other.vector)
        if other.frontier:
            stream.frontier = [*stream.frontier, *other.frontier]

    def preserve(self, writes: Sequence[Access]) -> None:
        """Take what a second look needs of bytes that are about to change. Call it before they do."""
        stream = self.current
        if stream.capture is not None:
            stream.capture.preserve(writes)
        elif self.second_look is not None:
            self.second_look.preserve(stream.index, stream.vector, writes)

    def when_ordered(self, stream: Stream, apply: Callable[[], None]) -> None:
        """Hold the bytes of the copy just launched on a stream back until the host is ordered after it."""
        self._deferred.append((stream.index, stream.vector[stream.index], apply))

    # Events

    def mark(self, stream: Stream) -> Moment:
        """Return the present end of a stream's queue. Costs no host time."""
        self.order(stream)
        capture = stream.capture
        node = capture.record(stream) if capture is not None else None
        return Moment(self.clock.host_us, stream.frontier, stream.vector.copy(), stream, capture, node)

    def record(self, event: Event, stream: Stream | None = None) -> None:
        """Record an event on a stream (the current one if left out); what it covered before is forgotten.

        Synchronises: no.
        """
        self.clock.host_us += self.profile.host.event_record_us
        event.create()
        stream = self.current if stream is None else stream
        if event.is_external and stream.capture is not None:
            stream.capture.record_external(stream, event)
        else:
            event.recorded = self.mark(stream)

    def wait(self, stream: Stream, event: Event) -> None:
        """Make all future work of a stream wait for an event's last recording; without one, do nothing.

        Synchronises: no.
        """
        if event.is_external and stream.capture is not None:
            stream.capture.wait_external(stream, event)
            return
        if event.recorded is None:
            return
        self.clock.host_us += self.profile.host.stream_wait_us
        self._wait_moment(stream, event.recorded)

    def wait_stream(self, stream: Stream, other: Stream) -> None:
        """Make all future work of a stream wait for the work that another has been given so far.

        Synchronises: no.
        """
        host = self.profile.host
        self.clock.host_us += host.event_record_us + host.stream_wait_us
        self._wait_moment(stream, self.mark(other))

    def _wait_moment(self, stream: Stream, moment: Moment) -> None:
        capture = stream.capture or moment.capture
        if capture is not None:
            capture.wait(stream, moment)
            return
        merge(stream.vector, moment.vector)
        if moment.tasks:
            stream.frontier = [*stream.frontier, *(t for t in moment.tasks if t not in stream.frontier)]

    def query_event(self, event: Event) -> bool:
        """Tell whether an event's last recording has been reached; true without one.

        Synchronises: no. The host is ordered after an event that it saw done.
        """
        moment = event.recorded
        if moment is None:
            return True
        self.captures.check_event(event)
        return self._query(moment)

    def query_stream(self, stream: Stream) -> bool:
        """Tell whether all work of a stream has ended.

        Synchronises: no. The host is ordered after work that it saw ended.
        """
        self.captures.check_stream(stream)
        return self._query(self.mark(stream))

    def _query(self, moment: Moment) -> bool:
        self.clock.host_us += self.profile.host.query_us
        return self.see(moment)

    def see(self, moment: Moment) -> bool:
        """Tell whether a moment has been reached; if so, the host is ordered after it. Costs no host time."""
        if not self.clock.has_ended(moment.tasks):
            return False
        self._learn(moment.vector)
        return True

    def find_time(self, event: Event) -> float | None:
        """Return the virtual time at which an event was reached; ``None`` while it was not.

        Precondition: the event is recorded.
        """
        moment = event.recorded
        if moment is None or not self.clock.has_ended(moment.tasks):
            return None
        return max([moment.issue_us, *(task.end_us for task in moment.tasks)])

    # Waits of the host

    def synchronize_stream(
        self,
        stream: Stream,
        *,
        kind: str,
        call: str,
        is_counted: bool = True,
        is_seen_by_debug_mode: bool = True,
    ) -> None:
        """Let the host wait for all work of a stream.

        Args:
            stream: what is waited for.
            kind: sort of the wait, for the ledger.
            call: what the user wrote.
            is_counted: whether the ledger writes it down.
            is_seen_by_debug_mode: whether sync debug mode speaks up first.

        Raises:
            RuntimeError: sync debug mode is ``error``, or a capture forbids it.

        Synchronises: yes.
        """
        self.captures.check_stream(stream)
        self.host_wait(
            kind, call, self.mark, stream, is_counted=is_counted, is_seen_by_debug_mode=is_seen_by_debug_mode
        )

    def synchronize_event(self, event: Event, *, call: str = "torch.cuda.Event.synchronize") -> None:
        """Let the host wait for an event; sync debug mode does not see it.

        Synchronises: yes, if the event was ever recorded.
        """
        moment = event.recorded
        if moment is None:
            return
        self.captures.check_event(event)
        self.host_wait("event_synchronize", call, lambda _: moment, moment.stream, is_seen_by_debug_mode=False)

    def synchronize_device(self, call: str = "torch.cuda.synchronize", *, kind: str = "device_synchronize") -> None:
        """Let the host wait for all streams; sync debug mode does not see it.

        Synchronises: yes.
        """
        self.captures.check_device()
        self.host_wait(kind, call, self._mark_all, None, is_seen_by_debug_mode=False)

    def _mark_all(self, _: object) -> Moment:
        tasks: list[Task] = []
        vector: list[int] = []
        for stream in self.streams.streams:
            tasks += stream.frontier
            merge(vector, stream.vector)
        return Moment(self.clock.host_us, tasks, vector, self.streams.default)

    def host_wait(
        self,
        kind: str,
        call: str,
        mark: Callable[[Any], Moment],
        stream: Stream | None,
        *,
        is_counted: bool = True,
        is_seen_by_debug_mode: bool = True,
    ) -> None:
        """Block the host: the one place where it happens.

        In this order: sync debug mode speaks, time passes, the host is ordered after what it waited for, the
        ledger takes note, and bytes held back appear.

        Args:
            kind: sort of the wait, for the ledger.
            call: what the user wrote.
            mark: gives what is waited for, from ``stream``.
            stream: the stream that is waited for; ``None`` stands for the whole device.
            is_counted: whether the ledger writes it down.
            is_seen_by_debug_mode: whether sync debug mode speaks up first.

        Synchronises: yes.
        """
        site = find_site() if is_counted or self.ledger.debug_mode else None
        if is_seen_by_debug_mode and self.ledger.debug_mode and site is not None:
            self.ledger.announce(site)
        clock = self.clock
        moment = mark(stream)
        start_us = clock.host_us
        end_us = clock.find_end(moment.tasks)
        clock.host_us = max(start_us, end_us) + self.profile.host.synchronize_us
        if is_counted and site is not None:
            waited_us = max(0.0, end_us - start_us)
            name = "" if stream is None else stream.name
            self.ledger.enter(HostWait(kind, call, site, name, waited_us, is_seen_by_debug_mode, start_us))
        self._learn(moment.vector)

    def _learn(self, vector: list[int]) -> None:
        """Order the host after some work, and let bytes appear that were held back for it."""
        merge(self.host_vector, vector)
        self._host_version += 1
        self.shadow.settle()
        self.flush_host_bytes()

    def flush_host_bytes(self) -> None:
        """Let the bytes of copies to the host appear that the host is ordered after."""
        if self._deferred:
            kept: deque[tuple[int, int, Callable[[], None]]] = deque()
            known = self.host_vector
            for index, number, apply in self._deferred:
                if index < len(known) and known[index] >= number:
                    apply()
                else:
                    kept.append((index, number, apply))
            self._deferred = kept
        for flush in self.flushers:
            flush()

    def host_access(self, access: Access, name: str, *, is_write: bool) -> None:
        """Take note that the host reads or writes pinned memory."""
        self.host_vector[HOST] += 1
        self._host_version += 1
        reads, writes = ((), (access,)) if is_write else ((access,), ())
        self.shadow.access(HOST, self.host_vector, reads, writes, name, find_site())


class AllocatorEvents:
    """The device's events, as the caching allocator needs them: recorded at free, polled in virtual time.

    Args:
        machine: the device.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def record(self, stream: int) -> Moment:
        """Return what ends when all work queued on a stream so far does."""
        machine = self._machine
        return machine.mark(machine.streams.external(stream))

    def is_done(self, event: object) -> bool:
        """Tell whether it has ended, without waiting. The host is ordered after what it saw done."""
        assert isinstance(event, Moment)
        return self._machine.see(event)

    def wait(self, event: object) -> None:
        """Let the host wait for it."""
        assert isinstance(event, Moment)
        moment = event
        self._machine.host_wait(
            "allocator_flush", "allocator", lambda _: moment, moment.stream, is_seen_by_debug_mode=False
        )
