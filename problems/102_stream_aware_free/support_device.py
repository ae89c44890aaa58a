"""A device whose work is done when the test says so, and which notes what it was asked."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

MOST_QUERIES = 100
"""So often an event may be asked while nothing moves: who asks more often waits."""

Call = list[Any]
"""Name of the call and its argument."""


class ScriptedEvent:
    """A mark in a stream's queue."""

    def __init__(self, device: ScriptedDevice, stream: int) -> None:
        self._device = device
        self.stream = stream
        self._position = len(device.queued.get(stream, ()))
        self._refused = 0

    def query(self) -> bool:
        """Return whether all work before the mark is done."""
        __tracebackhide__ = True
        answer = self._device.done.get(self.stream, 0) >= self._position
        self._device.queries.append((self.stream, answer))
        self._refused += not answer
        if self._refused > MOST_QUERIES:
            self._device.expect.fail(
                (
                    f"The same event of stream {self.stream} is asked again and again, while the device works",
                    f"设备还在工作，{self.stream} 号流的同一个事件却被一遍又一遍地询问",
                ),
                look=(
                    "A loop around query() waits like synchronize(): ask once, leave what is not complete for later.",
                    "围着 query() 循环和 synchronize() 一样是等待：只问一次，没完成的留到以后。",
                ),
            )
        return answer

    def synchronize(self) -> None:
        """Let the work before the mark be done."""
        self._device.waits.append(self.stream)
        self._device.done[self.stream] = max(self._device.done.get(self.stream, 0), self._position)


class ScriptedDevice:
    """Hands out segments and events.

    Args:
        expect: the judge's fixture.
        capacity: bytes of the device.
        bases: addresses of the segments in order of creation; without them, segments follow one another from 0.
    """

    def __init__(self, expect: Any, capacity: int = 1 << 50, bases: Iterable[int] = ()) -> None:
        self.expect = expect
        self.capacity = capacity
        self.queued: dict[int, list[str]] = {}
        self.done: dict[int, int] = {}
        self.queries: list[tuple[int, bool]] = []
        self.waits: list[int] = []
        self.records: list[int] = []
        self.calls: list[Call] = []
        self.sizes: dict[int, int] = {}
        self._bases = iter(bases)
        self._end = 0

    def malloc(self, size_bytes: int) -> int:
        """Return the next base."""
        self.calls.append(["malloc", size_bytes])
        if sum(self.sizes.values()) + size_bytes > self.capacity:
            raise MemoryError(f"{size_bytes} bytes wanted, {self.capacity - sum(self.sizes.values())} left")
        base = next(self._bases, self._end)
        self._end = max(self._end, base + size_bytes)
        self.sizes[base] = size_bytes
        return base

    def free(self, address: int) -> None:
        """Take a segment back."""
        self.calls.append(["free", address])
        del self.sizes[address]

    def record_event(self, stream: int) -> ScriptedEvent:
        """Return an event behind all that is queued on ``stream`` now."""
        self.records.append(stream)
        return ScriptedEvent(self, stream)

    def launch(self, stream: int, label: str = "kernel") -> None:
        """Queue work that is not done before ``finish``."""
        self.queued.setdefault(stream, []).append(label)

    def finish(self, stream: int, count: int | None = None) -> None:
        """Let the next ``count`` pieces of a stream's work be done, or all."""
        queued, done = len(self.queued.get(stream, ())), self.done.get(stream, 0)
        self.done[stream] = queued if count is None else min(queued, done + count)

    def is_done(self, stream: int, position: int) -> bool:
        """Return whether the first ``position`` pieces of a stream's work are done."""
        return self.done.get(stream, 0) >= position

    def take_notes(self) -> dict[str, Any]:
        """Return what was asked since the last time.

        In which order streams are served, and segments go back, is open: both are sorted.
        """
        notes: dict[str, Any] = {}
        if self.calls:
            groups = [(name, list(group)) for name, group in groupby(self.calls, key=lambda call: call[0])]
            notes["driver"] = [call for name, group in groups for call in (sorted(group) if name == "free" else group)]
        if self.records:
            notes["events"] = sorted(self.records)
        if self.waits:
            notes["waits"] = sorted(set(self.waits))
        self.calls, self.records, self.waits = [], [], []
        return notes
