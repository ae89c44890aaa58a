"""A block's time in use: cut to size, counted, and merged again when it ends."""

from __future__ import annotations

from judge.devices.sim.allocator.blocks import Block
from judge.devices.sim.allocator.books import Books
from judge.devices.sim.allocator.history import Frames
from judge.devices.sim.allocator.pools import DEFAULT_POOL
from judge.devices.sim.allocator.sizes import MIN_BLOCK_BYTES, SMALL_LIMIT_BYTES
from judge.devices.sim.allocator.statistics import LARGE, SMALL


class Occupancy:
    """The blocks that are handed out, or that other streams may still use.

    Args:
        books: what is written into.

    Source: ``alloc_found_block`` and ``free_block`` in c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
    """

    def __init__(self, books: Books) -> None:
        self._books = books
        self.blocks: dict[int, Block] = {}
        """By the address of the first byte."""

    def begin(self, block: Block, size: int, requested: int, frames: Frames | None) -> Block:
        """Hand a free block out, cut to ``size`` bytes if the rest is worth keeping.

        Args:
            block: in no pool.
            size: rounded bytes.
            requested: bytes asked for.
            frames: those of the caller.

        Returns:
            The block that was handed out.
        """
        books = self._books
        statistics = books.statistics
        pool = block.pool
        is_small = pool.is_small
        kind = SMALL if is_small else LARGE
        is_expandable = block.span is not None
        was_split = (block.previous is not None or block.next is not None) and not is_expandable
        # What is left of a small block is always a block: all sizes are multiples of the least one.
        if block.size != size and ((is_small and pool.owner is None) or self._is_worth_cutting(block, size)):
            rest = block
            block = rest.cut_front(size)
            pool.add(rest)
            if was_split:
                statistics.inactive_split_bytes.shrink(size, kind)
            elif not is_expandable:
                statistics.inactive_split_bytes.grow(rest.size, kind)
                statistics.inactive_split.grow(1, kind)
        elif was_split:
            statistics.inactive_split_bytes.shrink(block.size, kind)
            statistics.inactive_split.shrink(1, kind)
        block.is_allocated = True
        block.requested = requested
        block.frames = frames
        self.blocks[block.address] = block
        statistics.count_begin(kind, block.size, requested)
        if block.size >= books.settings.max_split_bytes:
            statistics.oversize_allocations.grow(1)
        if books.history.is_recording:
            self.note("alloc", block, frames)
        return block

    def request_end(self, block: Block, frames: Frames | None) -> None:
        """Take a block from its owner; it stays active until ``end``."""
        books = self._books
        statistics = books.statistics
        block.is_allocated = False
        statistics.count_request_end(SMALL if block.pool.is_small else LARGE, block.size)
        if block.size >= books.settings.max_split_bytes:
            statistics.oversize_allocations.shrink(1)
        if books.history.is_recording:
            self.note("free_requested", block, frames if frames is not None else block.frames)

    def end(self, block: Block, frames: Frames | None = None) -> None:
        """Put a block that nobody owns or uses back into its pool, merged with its free neighbours."""
        books = self._books
        if books.history.is_recording:
            self.note("free_completed", block, frames if frames is not None else block.frames)
        pool = block.pool
        kind = SMALL if pool.is_small else LARGE
        books.statistics.count_end(kind, block.size, block.requested)
        del self.blocks[block.address]
        block.frames = None
        block.users = None
        merged = gained = 0
        previous, following = block.previous, block.next
        if previous is not None and not previous.is_allocated and (gain := block.absorb(previous)):
            merged, gained = 1, gain
        if following is not None and not following.is_allocated and (gain := block.absorb(following)):
            merged, gained = merged + 1, gained + gain
        pool.add(block)
        if (previous is not None or following is not None) and block.span is None:
            is_split = block.previous is not None or block.next is not None
            self._count_split(kind, is_split - merged, block.size * is_split - gained)

    def note(self, action: str, block: Block, frames: Frames | None) -> None:
        """Enter into the history what happened to a block."""
        owner = block.pool.owner
        pool_id = DEFAULT_POOL if owner is None else owner.id
        self._books.history.note(action, block.address, block.requested, block.stream, frames, pool_id)

    def _count_split(self, kind: int, blocks: int, size: int) -> None:
        """Enter the net change of free blocks that share a segment; PyTorch counts it as one step."""
        statistics = self._books.statistics
        if blocks > 0:
            statistics.inactive_split.grow(blocks, kind)
        elif blocks < 0:
            statistics.inactive_split.shrink(-blocks, kind)
        if size > 0:
            statistics.inactive_split_bytes.grow(size, kind)
        elif size < 0:
            statistics.inactive_split_bytes.shrink(-size, kind)

    def _is_worth_cutting(self, block: Block, size: int) -> bool:
        settings = self._books.settings
        pool = block.pool
        rest = block.size - size
        if pool.owner is not None and pool.owner.never_splits:
            return False
        if pool.is_small or settings.is_expandable:
            return rest >= MIN_BLOCK_BYTES
        return size < settings.max_split_bytes and rest > SMALL_LIMIT_BYTES
