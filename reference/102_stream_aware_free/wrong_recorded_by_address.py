"""Recorded streams are kept by address and never struck off: the next owner inherits them.

Caught by: test_1_record.py::test_the_next_owner_starts_without_streams
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

MIB = 1 << 20


@dataclass(frozen=True)
class Block:
    """A piece of device memory, as its owner holds it. Given: leave it as it is.

    Args:
        addr: address of the first byte.
        size: bytes that belong to the owner, a multiple of 512.
    """

    addr: int
    size: int


class Event:
    """A mark in a stream's queue, as ``torch.cuda.Event``. Given: leave it as it is."""

    def __init__(self, device: Device, stream: int, position: int) -> None:
        self._device, self._stream, self._position = device, stream, position

    def query(self) -> bool:
        """Return whether all work that was queued before the mark is done; never waits."""
        return self._device.done.get(self._stream, 0) >= self._position

    def synchronize(self) -> None:
        """Make the host wait until all work that was queued before the mark is done."""
        self._device.done[self._stream] = max(self._device.done.get(self._stream, 0), self._position)


class Device:
    """Stand-in for a GPU whose work is done when you say so. Given: leave it as it is.

    Args:
        capacity: bytes of the device.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.queued: dict[int, int] = {}
        self.done: dict[int, int] = {}
        self._next_base = 0
        self._sizes: dict[int, int] = {}

    def malloc(self, size_bytes: int) -> int:
        """Return the address of a new segment, as ``cudaMalloc``; ``MemoryError`` where too little is left."""
        if sum(self._sizes.values()) + size_bytes > self.capacity:
            raise MemoryError(f"{size_bytes} bytes wanted")
        base = self._next_base
        self._next_base += size_bytes
        self._sizes[base] = size_bytes
        return base

    def free(self, address: int) -> None:
        """Take the segment that starts at ``address`` back, as ``cudaFree``."""
        del self._sizes[address]

    def record_event(self, stream: int) -> Event:
        """Return a new event behind all work that is queued on ``stream`` now; never waits."""
        return Event(self, stream, self.queued.get(stream, 0))

    def launch(self, stream: int) -> None:
        """Queue a kernel on ``stream``: for your own trials, the allocator launches nothing."""
        self.queued[stream] = self.queued.get(stream, 0) + 1

    def finish(self, stream: int) -> None:
        """Let all work queued on ``stream`` be done: for your own trials."""
        self.done[stream] = self.queued.get(stream, 0)


class Cache:
    """The allocator of problem 101, without its second try and slow, but right. Given: leave it as it is."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._segments: dict[int, tuple[int, tuple[bool, int]]] = {}  # by base: size, (is it small, stream)
        self._free: dict[int, tuple[int, int]] = {}  # by address: size, base of the segment
        self._used: dict[int, tuple[int, int]] = {}

    @property
    def reserved(self) -> int:
        """Bytes of all segments held from the device."""
        return sum(size for size, _ in self._segments.values())

    def take(self, size: int, stream: int) -> Block:
        """Return the best free block for ``stream``; where none fits, one in a new segment.

        Raises:
            ValueError: ``size`` is negative.
            MemoryError: the device refused the segment; nothing has changed.
        """
        if size < 0:
            raise ValueError(f"size must not be negative, got {size}")
        wanted = max(512, _round_up(size, 512))
        pool = (wanted <= MIB, stream)
        fits = [(has, at) for at, (has, base) in self._free.items() if has >= wanted and self._pool_of(base) == pool]
        if not fits:
            has = 2 * MIB if wanted <= MIB else 20 * MIB if wanted < 10 * MIB else _round_up(wanted, 2 * MIB)
            at = self._device.malloc(has)
            self._segments[at], self._free[at] = (has, pool), (has, at)
            fits = [(has, at)]
        has, at = min(fits)
        _, base = self._free.pop(at)
        if has - wanted >= (512 if wanted <= MIB else MIB + 1):
            self._free[at + wanted] = (has - wanted, base)
            has = wanted
        self._used[at] = (has, base)
        return Block(at, has)

    def put(self, block: Block) -> None:
        """Make a taken block free for its stream, and merge it with its free neighbours: it can be taken at once."""
        size, base = self._used.pop(block.addr)
        at, end = block.addr, block.addr + size
        for near, (has, home) in list(self._free.items()):
            if home == base and (near + has == at or near == end):
                del self._free[near]
                at, end = min(at, near), max(end, near + has)
        self._free[at] = (end - at, base)

    def release(self) -> None:
        """Give every segment that is one free block back to the device."""
        for at, (size, base) in list(self._free.items()):
            if at == base and size == self._segments[base][0]:
                self._device.free(base)
                del self._free[at], self._segments[base]

    def _pool_of(self, base: int) -> tuple[bool, int]:
        return self._segments[base][1]


def _round_up(size: int, grain: int) -> int:
    return -(-size // grain) * grain


@dataclass
class _Use:
    """Who uses a block that is handed out: the stream it was made for, and those that were recorded."""

    stream: int
    others: set[int] = field(default_factory=set)


class StreamAwareAllocator:
    """A caching allocator that lends nothing that another stream may still use.

    Args:
        device: any object with ``malloc``, ``free`` and ``record_event`` of ``Device``.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._cache = Cache(device)
        self._live: dict[Block, _Use] = {}
        self._others: dict[int, set[int]] = {}
        self._left: dict[Block, int] = {}  # of a block that waits: how many of its events are not complete
        self._queues: dict[int, deque[tuple[Event, Block]]] = {}  # by stream, in the order of recording

    def malloc(self, size: int, stream: int = 0) -> Block:
        """Return a block of at least ``size`` bytes for work on ``stream``. Synchronises: only before giving up.

        Raises:
            ValueError: ``size`` is negative.
            MemoryError: the device refused, also after every event had been waited for.
        """
        self._poll()
        try:
            block = self._cache.take(size, stream)
        except MemoryError:
            self.empty_cache()
            block = self._cache.take(size, stream)
        self._live[block] = _Use(stream, self._others.setdefault(block.addr, set()))
        return block

    def record_stream(self, block: Block, stream: int) -> None:
        """Note that work on ``stream`` uses ``block`` too. Synchronises: no; the device isn't asked.

        Raises:
            ValueError: ``block`` is not handed out.
        """
        use = self._find(block)
        # The block's next owner works on its own stream, behind all that is queued there: no event is needed.
        if stream != use.stream:
            use.others.add(stream)

    def free(self, block: Block) -> None:
        """Take ``block`` back, at once or once other streams are done with it. Synchronises: no.

        Raises:
            ValueError: ``block`` is not handed out.
        """
        others = self._find(block).others
        del self._live[block]
        if not others:
            self._cache.put(block)
            return
        # Recorded now, not in record_stream(): the event must lie behind the last work that uses the block.
        for stream in others:
            self._queues.setdefault(stream, deque()).append((self._device.record_event(stream), block))
        self._left[block] = len(others)

    def empty_cache(self) -> None:
        """Wait for every event, then give every wholly free segment back. Synchronises: where a block waits."""
        for queue in self._queues.values():
            while queue:
                event, block = queue.popleft()
                event.synchronize()
                self._complete_one(block)
        self._cache.release()

    def memory_allocated(self) -> int:
        """Return the bytes of all blocks that are handed out."""
        return sum(block.size for block in self._live)

    def active_bytes(self) -> int:
        """Return the bytes of all blocks that are handed out or wait."""
        return self.memory_allocated() + sum(block.size for block in self._left)

    def memory_reserved(self) -> int:
        """Return the bytes of all segments held from the device. Given: leave it as it is."""
        return self._cache.reserved

    def snapshot(self) -> list[tuple[int, int, str]]:
        """Return ``(addr, size, state)`` of every block that is handed out or waits, by address."""
        live = [(block.addr, block.size, "active_allocated") for block in self._live]
        return sorted(live + [(block.addr, block.size, "active_pending_free") for block in self._left])

    def _find(self, block: Block) -> _Use:
        use = self._live.get(block)
        if use is None:
            raise ValueError(f"{block} is not handed out")
        return use

    def _poll(self) -> None:
        """Return to the cache what no stream uses any more; of each stream ask only up to the first pending event."""
        for queue in self._queues.values():
            while queue and queue[0][0].query():
                self._complete_one(queue.popleft()[1])

    def _complete_one(self, block: Block) -> None:
        """Strike one event of a block that waits; after the last one it is free."""
        self._left[block] -= 1
        if self._left[block] == 0:
            del self._left[block]
            self._cache.put(block)
