"""Time and order on one device: streams, events, and waits, as the host calls for them."""

from __future__ import annotations

import threading
from collections.abc import Callable

from judge.devices.sim.clock import Clock, Task
from judge.devices.sim.events import Event, Moment
from judge.devices.sim.graphs.captures import Captures
from judge.devices.sim.host import Host
from judge.devices.sim.ledger import Ledger
from judge.devices.sim.profile import Profile
from judge.devices.sim.races.vectors import merge
from judge.devices.sim.streams import Stream, StreamPool


class Timeline:
    """The half of a device that knows when, and after what.

    Args:
        profile: the device's constants.
        view: gives the bytes of a range of device memory, by address and size, for captures.
        on_learned: called each time the host may know more than before.
    """

    def __init__(
        self, profile: Profile, view: Callable[[int, int], memoryview], on_learned: Callable[[], None]
    ) -> None:
        self.profile = profile
        self.clock = Clock(profile)
        self.streams = StreamPool()
        self.ledger = Ledger()
        self.host = Host(self.clock, self.ledger, on_learned)
        """What the host knows, and how it waits."""
        self.host_vector = self.host.vector
        """What the host is ordered after, itself included. Always this list: others hold it too."""
        self.flushers = self.host.flushers
        """Called when the host knows more, for whoever holds back bytes until then."""
        self.captures = Captures(view)
        """Graph captures that are going on."""
        self.on_switch: Callable[[Stream], None] | None = None
        """Called with each stream that becomes a thread's current one."""
        self._here = threading.local()

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

    def order(self, stream: Stream) -> None:
        """Order a stream's next work after all the host knows and after what its kind waits for by itself.

        Raises:
            RuntimeError: CUDA error 906, the default stream would wait for a blocking stream that is captured.
        """
        if stream.host_version != self.host.version:
            merge(stream.vector, self.host_vector)
            stream.host_version = self.host.version
        if stream.handle == 0 and self.captures.active:
            self.captures.check_legacy()
        if self.streams.blocking:
            self.streams.join_kin(stream)

    # Events

    def mark(self, stream: Stream) -> Moment:
        """Return the present end of a stream's queue. Costs no host time."""
        with self.host.lock:
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
        with self.host.lock:
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
        return self.host.see(moment)

    def see(self, moment: Moment) -> bool:
        """Tell whether a moment has been reached; if so, the host is ordered after it. Costs no host time."""
        return self.host.see(moment)

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
        self.host.wait(
            kind,
            call,
            lambda: self.mark(stream),
            stream,
            self.profile.host.stream_synchronize_us,
            is_counted=is_counted,
            is_seen_by_debug_mode=is_seen_by_debug_mode,
        )

    def synchronize_event(self, event: Event, *, call: str = "torch.cuda.Event.synchronize") -> None:
        """Let the host wait for an event; sync debug mode does not see it.

        Synchronises: yes, if the event was ever recorded.
        """
        moment = event.recorded
        if moment is None:
            return
        self.captures.check_event(event)
        call_us = self.profile.host.event_synchronize_us
        self.host.wait("event_synchronize", call, lambda: moment, moment.stream, call_us, is_seen_by_debug_mode=False)

    def synchronize_device(self, call: str = "torch.cuda.synchronize", *, kind: str = "device_synchronize") -> None:
        """Let the host wait for all streams; sync debug mode does not see it.

        Synchronises: yes.
        """
        self.captures.check_device()
        call_us = self.profile.host.device_synchronize_us
        self.host.wait(kind, call, self._mark_all, None, call_us, is_seen_by_debug_mode=False)

    def _mark_all(self) -> Moment:
        tasks: list[Task] = []
        vector: list[int] = []
        for stream in self.streams.streams:
            tasks += stream.frontier
            merge(vector, stream.vector)
        return Moment(self.clock.host_us, tasks, vector, self.streams.default)
