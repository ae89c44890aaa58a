"""Events that end a block's use on other streams, and the frees that wait for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from judge.devices.sim.allocator.blocks import Block


class EventSource(Protocol):
    """The device's events, as far as the allocator needs them."""

    def record(self, stream: int) -> object:
        """Return an event that is done when all work queued on ``stream`` so far is."""

    def is_done(self, event: object) -> bool:
        """Tell whether an event is done, without waiting (``cudaEventQuery``)."""

    def wait(self, event: object) -> None:
        """Let the host wait until an event is done (``cudaEventSynchronize``)."""


class PendingFrees:
    """Blocks that were freed while other streams may still use them, in one queue for each stream.

    Args:
        source: where events come from.
        complete: called with each block once its last event is seen done.

    Source: ``insert_events``, ``process_events`` and ``synchronize_and_free_events`` in
    c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
    """

    def __init__(self, source: EventSource, complete: Callable[[Block], None]) -> None:
        self._source = source
        self._complete = complete
        self.queues: dict[int, deque[tuple[object, Block]]] = {}
        """What is pending on each stream, in order."""

    def defer(self, block: Block) -> None:
        """Record an event on each stream that used a freed block; they cover all that is queued there now."""
        streams, block.users = block.users or {}, None
        for stream in streams:
            event = self._source.record(stream)
            block.event_count += 1
            self.queues.setdefault(stream, deque()).append((event, block))

    def poll(self) -> None:
        """Complete what can be completed without waiting; in each queue the first event not done ends the look.

        Synchronises: no.
        """
        for stream, queue in list(self.queues.items()):
            while queue and self._source.is_done(queue[0][0]):
                self._settle(queue.popleft()[1])
            if not queue:
                del self.queues[stream]

    def flush(self) -> None:
        """Wait for every event and complete every free.

        Synchronises: yes, if any is pending.
        """
        for queue in self.queues.values():
            for event, block in queue:
                self._source.wait(event)
                self._settle(block)
        self.queues.clear()

    def _settle(self, block: Block) -> None:
        block.event_count -= 1
        if block.event_count == 0:
            self._complete(block)
