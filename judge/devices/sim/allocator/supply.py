"""Where a block comes from when its pool has none: the driver, and what can be given back to it."""

from __future__ import annotations

from collections.abc import Callable

from judge.devices.sim.allocator.blocks import Block
from judge.devices.sim.allocator.books import Books
from judge.devices.sim.allocator.history import Frames
from judge.devices.sim.allocator.oom import OutOfMemory, Shortage
from judge.devices.sim.allocator.pools import DEFAULT_POOL, BlockPool, PoolId
from judge.devices.sim.allocator.routing import Routing
from judge.devices.sim.allocator.segments import Segments
from judge.devices.sim.allocator.sizes import round_segment

OutOfMemoryObserver = Callable[[int, int, int, int], None]
"""Told the device, bytes wanted, bytes allowed and bytes free, before the error is raised."""


class Supply:
    """Gets new memory, step by step, giving back what is unused only when the driver refuses.

    Args:
        books: what is written into.
        routing: the pools.
        segments: gets segments and gives them back.
        settle_frees: waits for all uses by other streams, and completes those frees.

    Source: ``malloc`` and ``release_cached_blocks`` in c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
    """

    def __init__(self, books: Books, routing: Routing, segments: Segments, settle_frees: Callable[[], None]) -> None:
        self.observers: list[OutOfMemoryObserver] = []
        self._books = books
        self._routing = routing
        self._segments = segments
        self._settle_frees = settle_frees

    def obtain(self, pool: BlockPool, size: int, stream: int, frames: Frames | None, *, is_captured: bool) -> Block:
        """Return a free block of at least ``size`` rounded bytes that is in no pool.

        Args:
            pool: that was asked, and had none.
            size: rounded bytes.
            stream: of the request.
            frames: those of the caller.
            is_captured: the current stream is being captured, so that the cache can't be flushed.

        Raises:
            OutOfMemory: all steps failed.
        """
        segment_size = round_segment(size, self._books.settings.large_segment_bytes)

        def allocate() -> Block | None:
            return self._segments.allocate(pool, stream, size, segment_size, frames)

        if self._books.has_collection:
            self._segments.collect(self._routing.large, frames)
        block = allocate() or self._borrow(pool, size, stream)
        if block is None and self._segments.release_oversize(pool, size, stream, frames):
            block = allocate()
        if block is None and not is_captured:
            self.flush(DEFAULT_POOL, frames)
            self._books.statistics.num_alloc_retries += 1
            block = allocate()
        if block is None:
            raise self._fail(segment_size, size, stream, pool, frames)
        return block

    def flush(self, pool_id: PoolId, frames: Frames | None, *, is_captured: bool = False) -> None:
        """Give unused segments back to the driver.

        Args:
            pool_id: of the one private pool that is meant; by default all pools but private ones with holders.
            frames: those of the caller.
            is_captured: the default pools are left alone, for their events can't be waited for.

        Synchronises: yes, if frees are pending.
        """
        chosen = self._routing.idle(pool_id)
        if (pool_id == DEFAULT_POOL and not is_captured) or (pool_id != DEFAULT_POOL and chosen):
            self._books.statistics.num_sync_all_streams += 1
            self._settle_frees()
        if pool_id == DEFAULT_POOL and not is_captured:
            self._segments.release_idle(self._routing.large, frames)
            self._segments.release_idle(self._routing.small, frames)
        for pool in chosen:
            self._segments.release_idle(pool.small, frames)
            self._segments.release_idle(pool.large, frames)
        self._routing.forget_empty()

    def _borrow(self, pool: BlockPool, size: int, stream: int) -> Block | None:
        """Take a block of a ``MemPool`` that was opened with ``use_on_oom``."""
        if pool.owner is not None:
            return None
        for reserve in self._routing.reserves(is_small=pool.is_small):
            block = reserve.take(size, stream, self._books.settings)
            if block is not None:
                return block
        return None

    def _fail(self, wanted: int, size: int, stream: int, pool: BlockPool, frames: Frames | None) -> OutOfMemory:
        """Count and report that memory ran out, and return the error."""
        books = self._books
        free = books.driver.free_bytes
        total = books.driver.total_bytes
        if books.history.is_recording:
            books.history.note("oom", free, size, stream, frames, DEFAULT_POOL if pool.owner is None else pool.owner.id)
        books.statistics.num_ooms += 1
        shortage = Shortage(
            device=books.device,
            wanted=wanted,
            total=total,
            free=free,
            used=total - free,
            allowed=books.limit_bytes,
            allocated=books.statistics.allocated_bytes.current,
            reserved=books.reserved_bytes,
            free_in_private_pools=self._routing.sum_private_free(),
        )
        for observe in self.observers:
            observe(books.device, wanted, total if books.limit_bytes is None else books.limit_bytes, free)
        return OutOfMemory(shortage.explain())
