"""Play a recording of PyTorch's allocator back on ours, with the addresses that the real driver gave out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from judge.devices.sim.allocator import CachingAllocator, DriverOutOfMemory, OutOfMemory, Settings, parse_options

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
H200_BYTES = 150_109_880_320


def load(name: str) -> dict:
    """Return a recording."""
    with gzip.open(GOLDEN / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


class RecordedDriver:
    """A driver that returns the address of the event being played: a new segment begins with the new block."""

    def __init__(self) -> None:
        self.total_bytes = H200_BYTES
        self.free_bytes = H200_BYTES
        self.next_address: int | None = None
        self.ranges: dict[int, int] = {}

    def allocate(self, size: int) -> int:
        """Return the recorded address, which must be free, once for each event."""
        self.map(0, size)
        return self.reserve(size)

    def release(self, address: int, size: int) -> None:
        """Take a segment back, whole."""
        self.unreserve(address, size)
        self.free_bytes += size

    def reserve(self, size: int) -> int:
        """Return the recorded address."""
        address, self.next_address = self.next_address, None
        assert address is not None, "a second segment in one event, or one where the real allocator ran out of memory"
        inside = [base for base, length in self.ranges.items() if base < address + size and address < base + length]
        assert [] == inside, "a new segment where the real allocator found a cached block"
        self.ranges[address] = size
        return address

    def unreserve(self, address: int, size: int) -> None:
        """Take addresses back."""
        assert size == self.ranges.pop(address)

    def map(self, address: int, size: int) -> None:
        """Count memory."""
        if size > self.free_bytes:
            raise DriverOutOfMemory
        self.free_bytes -= size

    def unmap(self, address: int, size: int) -> None:
        """Count memory."""
        self.free_bytes += size


class SwitchedEvents:
    """Events that stay pending while their stream is blocked."""

    def __init__(self) -> None:
        self.blocked: set[int] = set()
        self.pending: set[int] = set()
        self._count = 0

    def record(self, stream: int) -> object:
        """Return a new event."""
        self._count += 1
        if stream in self.blocked:
            self.pending.add(self._count)
        return self._count

    def is_done(self, event: object) -> bool:
        """Tell whether an event is done."""
        return event not in self.pending

    def wait(self, event: object) -> None:
        """End an event."""
        self.pending.discard(event)  # type: ignore[arg-type]  # events are numbers here

    def release(self) -> None:
        """End all that blocks."""
        self.blocked.clear()
        self.pending.clear()


class Replay:
    """One recording on its way through our allocator."""

    def __init__(self, conf: str | None = None, cap: int | None = None) -> None:
        self.driver = RecordedDriver()
        self.events = SwitchedEvents()
        self.allocator = CachingAllocator(
            self.driver, self.events, settings=parse_options(conf) if conf else Settings()
        )
        if cap is not None:
            self.allocator.set_memory_fraction(cap / H200_BYTES)
        self.addresses: dict[int, int] = {}

    def play(self, event: list) -> list:
        """Do what an event says, and return the event as it went here."""
        action = event[0]
        if action == "malloc":
            return [*event[:4], self._malloc(event), *self._figures()]
        if action == "oom":
            return [self._malloc_in_vain(event), *event[1:4], *self._figures()]
        if action == "free":
            self.allocator.free(self.addresses.pop(event[1]))
            return [*event[:2], *self._figures()]
        if action == "empty_cache":
            self.allocator.empty_cache()
            return [action, *self._figures()]
        if action == "record_stream":
            self.allocator.record_stream(self.addresses[event[1]], event[2])
        elif action == "block":
            self.events.blocked.add(event[1])
        else:
            assert "sync" == action
            self.events.release()
        return event

    def _malloc(self, event: list) -> int:
        _, name, requested, stream, address = event[:5]
        self.driver.next_address = address
        self.addresses[name] = self.allocator.malloc(requested, stream)
        return self.addresses[name]

    def _malloc_in_vain(self, event: list) -> str:
        self.driver.next_address = None
        try:
            self.allocator.malloc(event[2], event[3])
        except OutOfMemory:
            return "oom"
        return "malloc"

    def _figures(self) -> tuple[int, int]:
        return self.allocator.memory_allocated(), self.allocator.memory_reserved()

    def final(self) -> list[dict]:
        """Return the snapshot in the recording's form."""
        return [
            {
                "addr": segment["address"],
                "size": segment["total_size"],
                "stream": segment["stream"],
                "type": segment["segment_type"],
                "blocks": [
                    [block["address"], block["size"], block["requested_size"], block["state"]]
                    for block in segment["blocks"]
                ],
            }
            for segment in self.allocator.memory_snapshot()
        ]
