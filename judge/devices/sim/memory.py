"""The memory of one simulated device: PyTorch's caching allocator over an arena of real bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from judge.devices.sim.allocator import CachingAllocator, DriverOutOfMemory, EventSource, OutOfMemory, PoolIds, Settings
from judge.devices.sim.allocator.blocks import Block
from judge.devices.sim.allocator.history import History
from judge.devices.sim.arena import Arena
from judge.devices.sim.arena_driver import ArenaDriver, DriverCall, ignore_call
from judge.devices.sim.footprint import Footprint, PeakMeter
from judge.devices.sim.lifetimes import Lifetimes
from judge.devices.sim.sites import Site, find_site


class Watcher(Protocol):
    """Told when a range of bytes gets an owner and when it loses it; the shadow memory is one."""

    def begin(self, address: int, size: int, stream: int) -> None:
        """Note that the bytes have a new owner, who works on the stream with this handle."""

    def end(self, address: int, size: int, stream: int) -> None:
        """Note that their owner gave them up."""

    def forget(self, address: int, size: int) -> None:
        """Note that they went back to the driver, all work on them being done."""


class DeviceMemory:
    """Blocks of device memory; a block that is handed out again really holds what its last owner left.

    Args:
        arena: where the bytes lie.
        events: the device's events, for memory that other streams use.
        total_bytes: memory of the device.
        used_bytes: memory that others hold, the CUDA context for example.
        settings: of the allocator.
        is_capturing: tells whether the current stream is being captured into a graph.
        watcher: told of owners.
        on_call: told of calls to the driver.
        history: where trace entries go.
    """

    def __init__(
        self,
        arena: Arena,
        events: EventSource,
        *,
        total_bytes: int,
        used_bytes: int = 0,
        settings: Settings | None = None,
        is_capturing: Callable[[], bool] = lambda: False,
        watcher: Watcher | None = None,
        on_call: DriverCall = ignore_call,
        history: History | None = None,
    ) -> None:
        self.arena = arena
        self.driver = ArenaDriver(
            arena,
            total_bytes,
            used_bytes=used_bytes,
            on_call=on_call,
            on_release=None if watcher is None else watcher.forget,
        )
        self.allocator = CachingAllocator(
            self.driver, events, settings=settings, history=history, is_capturing=is_capturing
        )
        self.lifetimes = Lifetimes(self._release)
        self.footprint = Footprint()
        self.pool_ids = PoolIds()
        """Ids for private pools, of graphs and of the user alike."""
        self.memory_fraction = self.allocator.settings.memory_fraction
        self.is_caching = True
        """Off under ``PYTORCH_NO_CUDA_MEMORY_CACHING`` and ``caching_allocator_enable(False)``."""
        self._uncached: dict[int, int] = {}
        self._begin = None if watcher is None else watcher.begin
        self._end = None if watcher is None else watcher.end

    def allocate(self, size_bytes: int, stream: int = 0, site: Site | None = None) -> int:
        """Return the address of a block; 0 for no bytes.

        Args:
            size_bytes: bytes asked for.
            stream: handle of the stream that will work on it.
            site: the user's line; found if left out.

        Raises:
            OutOfMemory: the device has no memory for it.

        Synchronises: only when the cache is flushed because memory ran out.
        """
        if size_bytes == 0:
            return 0
        lifetimes = self.lifetimes
        with lifetimes.lock:  # `with lifetimes`, without its calls: every tensor pays for this
            if lifetimes.late and not lifetimes.depth:
                lifetimes.settle_held()
            lifetimes.depth += 1
            try:
                if not self.is_caching:
                    return self._allocate_uncached(size_bytes)
                block = self.allocator.take_block(size_bytes, stream)
                address, size = block.address, block.size
                if self.driver.has_grown:
                    self.driver.has_grown = False
                    self.footprint.note_reserved(self.allocator.memory_reserved())
                self.footprint.grow(address, size, find_site() if site is None else site)
                if self._begin is not None:
                    self._begin(address, size, stream)
                return address
            finally:
                lifetimes.depth -= 1

    def free(self, address: int) -> None:
        """Take a block back, now or, from within the garbage collector, at the next call.

        Raises:
            RuntimeError: no block that is handed out starts there; PyTorch's text.
        """
        self.lifetimes.end(address)

    def record_stream(self, address: int, stream: int) -> None:
        """Note that a stream, given by its handle, uses the block that starts at an address; 0 is ignored."""
        with self.lifetimes:
            if address not in self._uncached:
                self.allocator.record_stream(address, stream)

    def find(self, address: int) -> Block:
        """Return the block that starts at an address and is handed out.

        Raises:
            RuntimeError: there is none; PyTorch's text.
        """
        return self.allocator.find(address)

    def empty_cache(self, pool_id: tuple[int, int] = (0, 0)) -> None:
        """Give unused segments back to the driver; with an id, those of one private pool.

        Synchronises: yes, if frees are pending or a segment goes back.
        """
        with self.lifetimes:
            self.allocator.empty_cache(pool_id)

    def set_memory_fraction(self, fraction: float) -> None:
        """Allow only a share of the device's memory to be reserved.

        Raises:
            ValueError: the share is not within 0 and 1; PyTorch's text.
        """
        self.allocator.set_memory_fraction(fraction)
        self.memory_fraction = fraction

    def start_meter(self) -> PeakMeter:
        """Return a new meter of peaks, which begins with what is held now."""
        self.lifetimes.settle()
        return self.footprint.start(self.allocator.memory_reserved())

    def close(self) -> None:
        """Give the arena back; tensors that outlive the device keep their bytes."""
        lifetimes = self.lifetimes
        self.lifetimes.settle()
        self.lifetimes.close()
        self.arena.close(lambda: len(lifetimes) > 0)

    def _release(self, address: int) -> None:
        if self._uncached and address in self._uncached:
            self.driver.release(address, self._uncached.pop(address))
            return
        block = self.allocator.find(address)
        self.footprint.shrink(address)
        if self._end is not None:
            self._end(address, block.size, block.stream)
        self.allocator.give_block(block)

    def _allocate_uncached(self, size_bytes: int) -> int:
        try:
            address = self.driver.allocate(size_bytes)
        except DriverOutOfMemory:
            raise OutOfMemory("CUDA error: out of memory") from None
        self._uncached[address] = size_bytes
        return address
