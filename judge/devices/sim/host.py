"""The host thread: what it knows to be over, how it waits, and the bytes that it gets to see only then."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from judge.devices.sim.clock import Clock
from judge.devices.sim.events import Moment
from judge.devices.sim.ledger import HostWait, Ledger
from judge.devices.sim.races.vectors import HOST, merge
from judge.devices.sim.sites import find_site
from judge.devices.sim.streams import Stream


class Arrival(Protocol):
    """Bytes that a copy brings to the host, held back."""

    def __call__(self) -> None:
        """Let them appear, for good."""

    def swap(self) -> None:
        """Exchange them with what lies there; twice, and all is as before."""


class Host:
    """The host's side of a device. All threads are one actor: what one of them waited for, all know.

    Args:
        clock: virtual time.
        ledger: where waits are written down.
        on_learned: called each time the host may know more than before.
    """

    def __init__(self, clock: Clock, ledger: Ledger, on_learned: Callable[[], None]) -> None:
        self.vector: list[int] = [0]
        """What the host is ordered after, itself included. Always this list: others hold it too."""
        self.version = 0
        """Changes whenever the vector does."""
        self.flushers: list[Callable[[], None]] = []
        """Called when the host knows more, for whoever holds back bytes until then."""
        self.lock = threading.RLock()
        """Held while the device's books change, since threads may call at the same time."""
        self._clock = clock
        self._ledger = ledger
        self._on_learned = on_learned
        self._deferred: deque[tuple[int, int, Arrival]] = deque()

    def act(self) -> None:
        """Begin something that the host does by itself, such as touching pinned memory."""
        self.vector[HOST] += 1
        self.version += 1

    def wait(
        self,
        kind: str,
        call: str,
        mark: Callable[[], Moment],
        stream: Stream | None,
        call_us: float,
        *,
        is_counted: bool = True,
        is_seen_by_debug_mode: bool = True,
    ) -> None:
        """Block the host: the one place where it happens.

        In this order: sync debug mode speaks, time passes, the ledger takes note, the host is ordered after what it
        waited for, and bytes held back appear.

        Args:
            kind: sort of the wait, for the ledger.
            call: what the user wrote.
            mark: gives what is waited for.
            stream: whose work that is; ``None`` stands for the whole device.
            call_us: host time of the call when there is nothing to wait for.
            is_counted: whether the ledger writes it down.
            is_seen_by_debug_mode: whether sync debug mode speaks up first.

        Raises:
            RuntimeError: sync debug mode is ``error``.

        Synchronises: yes.
        """
        ledger, clock = self._ledger, self._clock
        site = find_site() if is_counted or ledger.debug_mode else None
        if is_seen_by_debug_mode and ledger.debug_mode and site is not None:
            ledger.announce(site)
        with self.lock:
            moment = mark()
            start_us = clock.host_us
            end_us = clock.find_end(moment.tasks)
            clock.host_us = max(start_us, end_us) + call_us
            if is_counted and site is not None:
                waited_us = max(0.0, end_us - start_us)
                name = "" if stream is None else stream.name
                ledger.enter(HostWait(kind, call, site, name, waited_us, is_seen_by_debug_mode, start_us))
            self.learn(moment.vector)

    def see(self, moment: Moment) -> bool:
        """Tell whether a moment has been reached; if so, the host is ordered after it. Costs no host time."""
        with self.lock:
            if not self._clock.has_ended(moment.tasks):
                return False
            self.learn(moment.vector)
            return True

    def learn(self, vector: list[int]) -> None:
        """Order the host after some work, and let bytes appear that were held back for it."""
        merge(self.vector, vector)
        self.version += 1
        self._on_learned()
        self.flush()

    def defer(self, stream: Stream, arrival: Arrival) -> None:
        """Hold bytes back until the host is ordered after the last work of a stream."""
        self._deferred.append((stream.index, stream.vector[stream.index], arrival))

    @contextmanager
    def as_seen_by(self, vector: Sequence[int]) -> Iterator[None]:
        """Show pinned memory as the device has it: with what the host may not see yet, but a stream does.

        Args:
            vector: what the stream is ordered after.
        """
        due = [arrival for index, number, arrival in self._deferred if index < len(vector) and vector[index] >= number]
        for arrival in due:
            arrival.swap()
        try:
            yield
        finally:
            for arrival in reversed(due):
                arrival.swap()

    def flush(self) -> None:
        """Let happen what was held back for work that the host is ordered after."""
        if self._deferred:
            kept: deque[tuple[int, int, Arrival]] = deque()
            known = self.vector
            for index, number, arrival in self._deferred:
                if index < len(known) and known[index] >= number:
                    arrival()
                else:
                    kept.append((index, number, arrival))
            self._deferred = kept
        for flush in self.flushers:
            flush()
