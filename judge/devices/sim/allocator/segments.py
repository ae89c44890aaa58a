"""Segments: what comes from the driver as a whole, and when it goes back."""

from __future__ import annotations

from judge.devices.sim.allocator.blocks import Block
from judge.devices.sim.allocator.books import Books, kind_of
from judge.devices.sim.allocator.driver import DriverOutOfMemory
from judge.devices.sim.allocator.expandable import ExpandableSegments
from judge.devices.sim.allocator.history import Frames
from judge.devices.sim.allocator.pools import BlockPool


class Segments:
    """Gets segments for the pools and gives them back.

    Args:
        books: what is written into.
        expandable: the other way of getting memory.

    Source: ``alloc_block`` and ``release_…`` in c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
    """

    def __init__(self, books: Books, expandable: ExpandableSegments) -> None:
        self._books = books
        self._expandable = expandable

    def allocate(
        self, pool: BlockPool, stream: int, block_size: int, segment_size: int, frames: Frames | None
    ) -> Block | None:
        """Return a free block that is in no pool, fresh from the driver, or ``None`` if there is no memory.

        Args:
            pool: that the block will belong to.
            stream: that the block will belong to.
            block_size: bytes needed; what an expandable segment grows by.
            segment_size: bytes of an ordinary segment.
            frames: those of the caller.
        """
        books = self._books
        if not books.has_room(segment_size):
            return None
        if books.settings.is_expandable:
            return self._expandable.allocate(pool, stream, block_size, frames)
        try:
            address = books.driver.allocate(segment_size)
        except DriverOutOfMemory:
            return None
        block = Block(address, segment_size, stream, pool)
        block.segment_frames = frames
        books.grow_reserved(pool, segment_size)
        books.statistics.segment.grow(1, kind_of(pool))
        if segment_size >= books.settings.max_split_bytes:
            books.statistics.oversize_segments.grow(1)
        books.note_segment("segment_alloc", block, frames)
        return block

    def release(self, block: Block, frames: Frames | None) -> None:
        """Give the segment that a free block covers back to the driver."""
        books = self._books
        pool = block.pool
        books.note_segment("segment_free", block, frames if frames is not None else block.segment_frames)
        books.driver.release(block.address, block.size)
        books.shrink_reserved(pool, block.size)
        books.statistics.segment.shrink(1, kind_of(pool))
        if block.size >= books.settings.max_split_bytes:
            books.statistics.oversize_segments.shrink(1)
        pool.remove(block)

    def release_idle(self, pool: BlockPool, frames: Frames | None) -> None:
        """Give back all segments of a pool that one free block covers, and unused pages of expandable ones."""
        blocks = list(pool)
        for block in blocks:
            if block.span is None and not block.is_split:
                self.release(block, frames)
        for block in blocks:
            if block.span is not None:
                self._expandable.shrink(block, frames)

    def release_oversize(self, pool: BlockPool, size: int, stream: int, frames: Frames | None) -> bool:
        """Give back one unsplittable block that is large enough, else several, the largest first.

        Args:
            pool: that is asked for memory.
            size: rounded bytes of the request.
            stream: of the request.
            frames: those of the caller.

        Returns:
            Whether enough was given back; always false without ``max_split_size_mb``.
        """
        limit = self._books.settings.max_split_bytes
        if not self._books.settings.has_split_limit:
            return False
        wanted = max(size, limit)
        smaller, enough = pool.find_from(wanted, stream)
        if enough and enough[0].span is None:
            self.release(enough[0], frames)
            return True
        released = 0
        for block in reversed(smaller):
            if released >= wanted or block.size < limit:
                break
            if block.span is None:
                self.release(block, frames)
                released += block.size
        return released >= wanted

    def collect(self, pool: BlockPool, frames: Frames | None) -> None:
        """Give back unused segments of at least average age until the threshold is kept.

        Synchronises: no.

        Source: ``garbage_collect_cached_blocks`` in c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
        """
        books = self._books
        if books.limit_bytes is None:
            return
        excess = books.reserved_bytes - int(books.settings.collection_threshold * books.limit_bytes)
        blocks = [block for block in pool if not block.is_split]
        while excess > 0 and blocks:
            total_age = sum(pool.age(block) for block in blocks)
            average = total_age / len(blocks)
            old = [block for block in blocks if block.span is None and pool.age(block) >= average]
            if not old:
                return
            blocks = [block for block in blocks if block.span is not None or pool.age(block) < average]
            for block in old:
                excess -= block.size
                self.release(block, frames)
