"""Pinned host memory: blocks of powers of two that are kept until the copies out of them are done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from judge.devices.sim.allocator import EventSource, LinearDriver, Settings
from judge.devices.sim.arena import Arena
from judge.devices.sim.arena_driver import DriverCall, ignore_call
from judge.devices.sim.lifetimes import Lifetimes
from judge.devices.sim.memory import Watcher
from judge.devices.sim.pinned_statistics import PinnedStatistics

MIN_BLOCK_BYTES = 512
"""What the driver hands out at least; PyTorch itself rounds to powers of two only."""


@dataclass(eq=False)
class PinnedBlock:
    """A block of pinned memory.

    Args:
        address: of the first byte.
        size: bytes, a power of two.
    """

    address: int
    size: int
    is_allocated: bool = True
    is_captured: bool = False
    """Whether it was handed out while the current stream was being captured."""
    streams: dict[int, None] = field(default_factory=dict)
    """Streams that copied from or to the block since it was handed out, by handle."""
    event_count: int = 0
    """Events at the end of those copies that have not been seen done."""


class PinnedMemory:
    """Hands out pinned memory by PyTorch's rules.

    Only asynchronous copies are waited for, and only by reuse: what the CPU reads or writes is never protected, and
    a freed block that no stream was recorded for is the next one to be handed out.

    Args:
        arena: where the bytes lie.
        events: the device's events.
        settings: of the allocator.
        is_capturing: tells whether the current stream is being captured into a graph.
        watcher: told of owners.
        on_call: told of calls to the driver.
        read_clock: returns the host's time in microseconds.

    Source: ``CachingHostAllocatorImpl`` in ATen/core/CachingHostAllocator.h, torch 2.13.
    """

    def __init__(
        self,
        arena: Arena,
        events: EventSource,
        *,
        settings: Settings | None = None,
        is_capturing: Callable[[], bool] = lambda: False,
        watcher: Watcher | None = None,
        on_call: DriverCall = ignore_call,
        read_clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.arena = arena
        self.settings = settings or Settings()
        self.lifetimes = Lifetimes(self._release)
        self.statistics = PinnedStatistics()
        self._events = events
        self._is_capturing = is_capturing
        self._watcher = watcher
        self._on_call = on_call
        self._read_clock = read_clock
        self._driver = LinearDriver(arena.null_address - arena.base, base=arena.base)
        self._blocks: dict[int, PinnedBlock] = {}
        self._free: dict[int, list[PinnedBlock]] = {}
        """Free blocks by size, the last freed at the end; that is the one handed out next."""
        self._pending: deque[tuple[object, PinnedBlock]] = deque()

    def allocate(self, size_bytes: int) -> int:
        """Return the address of a block; 0 for no bytes.

        Synchronises: no.
        """
        if size_bytes == 0:
            return 0
        with self.lifetimes:
            is_captured = self._is_capturing()
            if not is_captured:
                self._poll()
            size = self._round(size_bytes)
            kept = self._free.get(size)
            block = kept.pop() if kept else self._create(size)
            block.is_allocated = True
            block.is_captured = is_captured
            self.statistics.count_begin(size)
            if self._watcher is not None:
                self._watcher.begin(block.address, size, 0)
        return block.address

    def free(self, address: int) -> None:
        """Take a block back, now or, from within the garbage collector, at the next call."""
        self.lifetimes.end(address)

    def record_stream(self, address: int, stream: int) -> None:
        """Note that an asynchronous copy on a stream, given by its handle, uses the block at an address.

        Args:
            address: any in the block, as copies of views have it; one in no block is ignored.
            stream: handle of the stream.
        """
        block = self.find(address)
        if block is not None:
            block.streams[stream] = None

    def find(self, address: int) -> PinnedBlock | None:
        """Return the block that an address lies in, if it is handed out."""
        block = self._blocks.get(address)
        if block is None:
            block = next(
                (block for block in self._blocks.values() if block.address <= address < block.address + block.size),
                None,
            )
        return block if block is not None and block.is_allocated else None

    def empty_cache(self) -> None:
        """Give the blocks that nobody uses back to the driver (``torch._C._host_emptyCache``).

        Synchronises: yes, if there are any.
        """
        with self.lifetimes:
            if not self._is_capturing():
                self._poll()
            for kept in self._free.values():
                for block in kept:
                    self._destroy(block)
            self._free.clear()

    def close(self) -> None:
        """Give the arena back; tensors that outlive the device keep their bytes."""
        lifetimes = self.lifetimes
        self.lifetimes.settle()
        self.lifetimes.close()
        self.arena.close(lambda: len(lifetimes) > 0)

    def _round(self, size_bytes: int) -> int:
        if size_bytes > self.settings.pinned_max_round_bytes:
            return size_bytes
        return 1 << (size_bytes - 1).bit_length()

    def _create(self, size: int) -> PinnedBlock:
        start_us = self._read_clock()
        self._on_call("cudaHostAlloc", size)
        block = PinnedBlock(self._driver.allocate(max(size, MIN_BLOCK_BYTES)), size)
        self._blocks[block.address] = block
        self.statistics.count_driver_begin(size, self._read_clock() - start_us)
        return block

    def _destroy(self, block: PinnedBlock) -> None:
        start_us = self._read_clock()
        self._on_call("cudaFreeHost", block.size)
        del self._blocks[block.address]
        size = max(block.size, MIN_BLOCK_BYTES)
        self._driver.release(block.address, size)
        self.arena.drop(block.address, size)
        if self._watcher is not None:
            self._watcher.forget(block.address, size)
        self.statistics.count_driver_end(block.size, self._read_clock() - start_us)

    def _release(self, address: int) -> None:
        block = self._blocks[address]
        block.is_allocated = False
        if self._watcher is not None:
            self._watcher.end(address, block.size, 0)
        if not block.streams:
            self._keep(block)
            return
        if block.is_captured:
            return  # a graph may copy from it at any time: PyTorch never hands it out again
        for stream in block.streams:
            block.event_count += 1
            self._pending.append((self._events.record(stream), block))
        block.streams.clear()

    def _keep(self, block: PinnedBlock) -> None:
        self.statistics.count_end(block.size)
        if block.size > self.settings.pinned_max_cached_bytes:
            self._destroy(block)
        else:
            self._free.setdefault(block.size, []).append(block)

    def _poll(self) -> None:
        """Look at the events in the order of their recording; the first that is not done ends the look."""
        while self._pending and self._events.is_done(self._pending[0][0]):
            block = self._pending.popleft()[1]
            block.event_count -= 1
            if block.event_count == 0:
                self._keep(block)
