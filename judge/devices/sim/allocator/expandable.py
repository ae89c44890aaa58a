"""Expandable segments: ranges of addresses in which memory is mapped page by page."""

from __future__ import annotations

from judge.devices.sim.allocator.blocks import Block, Span
from judge.devices.sim.allocator.books import Books
from judge.devices.sim.allocator.driver import DriverOutOfMemory
from judge.devices.sim.allocator.events import EventSource
from judge.devices.sim.allocator.history import Frames
from judge.devices.sim.allocator.pools import BlockPool
from judge.devices.sim.allocator.sizes import SMALL_SEGMENT_BYTES, round_up

FULL_RANGES = 64
"""So many ranges suffice for all memory; those that come later are shorter, since our addresses are fewer than a GPU's,
and a stream that outgrows one gets another."""
SHORTER = 16


class ExpandableSegments:
    """Grows and shrinks the segments that ``expandable_segments:True`` asks for.

    A segment's addresses suffice for 9/8 of the device's memory. Blocks cover all of them; those without
    memory wait in the pool's ``unmapped``.

    Args:
        books: what is written into.
        events: used to wait for a stream before its pages go.

    Source: ``ExpandableSegment`` in c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
    """

    def __init__(self, books: Books, events: EventSource) -> None:
        self._books = books
        self._events = events
        self._full_ranges = 0

    def allocate(self, pool: BlockPool, stream: int, size: int, frames: Frames | None) -> Block | None:
        """Return a free block of at least ``size`` bytes that is in no pool, or ``None`` if memory runs out."""
        block: Block | None = self._find_start(pool, stream, size) or self._open(pool, stream, size)
        if block is not None and not block.is_mapped:
            block = self._map(block, min(block.size, size), frames)
        while block is not None and block.size < size:
            after = block.next
            if after is None:
                raise RuntimeError(f"nothing lies after {block}, which was to grow to {size} bytes")
            block = self._map(after, min(after.size, size - block.size), frames)
        if block is None:
            return None
        pool.remove(block)
        return block

    def shrink(self, block: Block, frames: Frames | None) -> None:
        """Unmap the whole pages inside a free block; drop the segment when none is left.

        Synchronises: yes, the segment's stream, if a page is unmapped.
        """
        span = block.span
        if span is None:
            return
        start = span.start + round_up(block.address - span.start, span.grain)
        end = span.start + (block.address + block.size - span.start) // span.grain * span.grain
        if start >= end:
            return
        pool = block.pool
        pool.remove(block)
        if start > block.address:
            pool.add(block.cut_front(start - block.address))
        middle = block
        if end < block.address + block.size:
            middle = block.cut_front(end - block.address)
            pool.add(block)
        self._unmap(middle, frames)
        if not middle.is_split:
            pool.remove(middle)
            self._books.driver.unreserve(span.start, span.size)

    def _find_start(self, pool: BlockPool, stream: int, size: int) -> Block | None:
        """Return the block at the lowest address from which free and unmapped blocks make up ``size`` bytes."""
        for unmapped in pool.unmapped:
            if unmapped.stream != stream:
                continue
            before = unmapped.previous
            start = before if before is not None and before.is_idle else unmapped
            found = 0
            block: Block | None = start
            while found < size and block is not None and block.is_idle:
                found += block.size
                block = block.next
            if found >= size:
                return start
        return None

    def _open(self, pool: BlockPool, stream: int, wanted: int) -> Block | None:
        """Reserve a new range of addresses; without any left, return ``None``."""
        total = self._books.driver.total_bytes
        grain = SMALL_SEGMENT_BYTES if pool.is_small else self._books.settings.large_segment_bytes
        size = round_up(total + total // 8, grain)
        start = self._reserve(size) if self._full_ranges < FULL_RANGES else None
        if start is not None:
            self._full_ranges += 1
        else:
            size = round_up(max(size // SHORTER, wanted), grain)
            start = self._reserve(size)
        if start is None:
            return None
        span = Span(start, size, grain, stream)
        block = Block(span.start, size, stream, pool)
        block.span = span
        block.is_mapped = False
        pool.add(block)
        return block

    def _reserve(self, size: int) -> int | None:
        try:
            return self._books.driver.reserve(size)
        except DriverOutOfMemory:
            return None

    def _map(self, block: Block, size: int, frames: Frames | None) -> Block | None:
        """Back the first ``size`` bytes of an unmapped block, in whole pages.

        Returns:
            What was mapped, merged with its free neighbours and put into the pool; ``None`` without memory.
        """
        span = block.span
        if span is None or block.is_mapped:
            raise RuntimeError(f"{block} is mapped already")
        mapped = round_up(size, span.grain)
        start = block.address
        try:
            self._books.driver.map(start, mapped)
        except DriverOutOfMemory:
            return None
        pool = block.pool
        pool.remove(block)
        if mapped < block.size:
            rest = Block(start + mapped, block.size - mapped, block.stream, pool)
            rest.span = span
            rest.is_mapped = False
            rest.link(block, block.next)
            block.size = mapped
            pool.add(rest)
        block.is_mapped = True
        self._books.grow_reserved(pool, mapped)
        block.segment_frames = frames
        self._books.note_segment("segment_map", block, frames)
        block.absorb(block.previous)
        block.absorb(block.next)
        pool.add(block)
        return block

    def _unmap(self, block: Block, frames: Frames | None) -> None:
        """Take the memory behind a block that covers whole pages back."""
        span = block.span
        if span is not None:
            self._events.wait(self._events.record(span.stream))
        self._books.driver.unmap(block.address, block.size)
        self._books.shrink_reserved(block.pool, block.size)
        self._books.note_segment("segment_unmap", block, frames if frames is not None else block.segment_frames)
        block.is_mapped = False
        block.absorb(block.previous)
        block.absorb(block.next)
        block.pool.add(block)
