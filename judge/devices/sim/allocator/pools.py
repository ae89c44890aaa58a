"""Pools: the free blocks of one kind, ordered for best fit."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field

from judge.devices.sim.allocator.blocks import Block
from judge.devices.sim.allocator.settings import UNLIMITED, Settings

PoolId = tuple[int, int]
"""``(n, 0)``: made for a graph; ``(0, n)``: made by the user; ``(0, 0)``: the default pools."""

DEFAULT_POOL: PoolId = (0, 0)

Entry = tuple[int, int, Block]


class BlockPool:
    """Free blocks for small or for large requests; those of each stream ordered by size, then address.

    Args:
        is_small: holds blocks for requests of up to 1 MiB.
        owner: the private pool that this is one half of.

    Source: ``BlockPool`` and ``get_free_block`` in c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
    """

    __slots__ = ("_free", "is_small", "owner", "search_count", "unmapped")

    def __init__(self, *, is_small: bool, owner: PrivatePool | None = None) -> None:
        self.is_small = is_small
        self.owner = owner
        self.search_count = 0
        """Searches made while garbage collection was on; a block's age is counted in them."""
        self.unmapped: list[Block] = []
        """Ranges of addresses of expandable segments that no memory backs, by stream and address."""
        self._free: dict[int, list[Entry]] = {}

    def __iter__(self) -> Iterator[Block]:
        for stream in sorted(self._free):
            for _, _, block in self._free[stream]:
                yield block

    def add(self, block: Block) -> None:
        """Keep a free block."""
        if not block.is_mapped:
            insort(self.unmapped, block, key=_by_address)
            return
        block.age_base = self.search_count
        entries = self._free.get(block.stream)
        if entries is None:
            entries = self._free[block.stream] = []
        insort(entries, (block.size, block.address, block))

    def remove(self, block: Block) -> None:
        """Strike a block that is kept here, before its size or address changes."""
        if not block.is_mapped:
            self.unmapped.remove(block)
            return
        entries = self._free[block.stream]
        # A tuple without the block sorts right before the same one with it.
        del entries[bisect_left(entries, (block.size, block.address))]

    def take(self, size: int, stream: int, settings: Settings) -> Block | None:
        """Remove and return the smallest block of at least ``size`` bytes, or ``None`` if the rules refuse it.

        A refusal ends the search, even where a larger block would be allowed.

        Args:
            size: rounded bytes.
            stream: blocks of other streams are not looked at.
            settings: those in force.
        """
        entries = self._free.get(stream)
        if not entries:
            return None
        at = bisect_left(entries, (size,))  # sorts before all entries of that size
        if at == len(entries):
            return None
        if entries[at][2].span is not None:
            found = _seek_in_segments(entries, at, settings)
            if found is None:
                return None
            at = found
        if settings.max_split_bytes != UNLIMITED and not _may_serve(entries[at][0], size, settings):
            return None
        return entries.pop(at)[2]

    def would_take(self, block: Block) -> bool:
        """Tell whether ``take`` would find a block, in a request of its size, if it were kept here as it is."""
        entries = self._free.get(block.stream)
        if not entries:
            return True
        at = bisect_left(entries, (block.size,))
        return at == len(entries) or entries[at][:2] > (block.size, block.address)

    def would_take_whole(self, block: Block, following: Block) -> bool:
        """Tell whether ``take`` would find the two as one, in a request of the block's size; the second is kept here.

        That is certain where nothing else would do.
        """
        entries = self._free[block.stream]
        at = bisect_left(entries, (block.size,))
        return at == len(entries) or (at == len(entries) - 1 and entries[at][2] is following)

    def find_from(self, size: int, stream: int) -> tuple[list[Block], list[Block]]:
        """Return the blocks of a stream below a size, smallest first, and those from it on."""
        entries = self._free.get(stream, [])
        at = bisect_left(entries, (size,))
        return [entry[2] for entry in entries[:at]], [entry[2] for entry in entries[at:]]

    def sum_free(self) -> int:
        """Return the bytes of all free blocks."""
        return sum(size for entries in self._free.values() for size, _, _ in entries)

    def age(self, block: Block) -> int:
        """Return how many searches a free block has lain here for."""
        return self.search_count - block.age_base


def _by_address(block: Block) -> tuple[int, int]:
    return block.stream, block.address


def _may_serve(found_size: int, size: int, settings: Settings) -> bool:
    if size < settings.max_split_bytes:
        return found_size < settings.max_split_bytes
    return found_size < size + settings.max_non_split_rounding_bytes


def _seek_in_segments(entries: list[Entry], at: int, settings: Settings) -> int | None:
    """Go on from a block of an expandable segment to the one that PyTorch would take."""
    if not settings.is_expandable:
        # The option was turned off meanwhile: only ordinary segments serve now.
        return next((i for i in range(at, len(entries)) if entries[i][2].span is None), None)
    while at + 1 < len(entries) and entries[at][2].span is not None:
        if _room(entries[at + 1][2]) >= _room(entries[at][2]):
            break
        at += 1
    return at


def _room(block: Block) -> int:
    """Return the size up to which a block could grow."""
    after = block.next
    return block.size + (after.size if after is not None and not after.is_mapped else 0)


@dataclass(eq=False)
class PrivatePool:
    """The memory of graphs or of a ``MemPool``, apart from the default pools.

    Args:
        id: of the pool.
        use_count: graphs, ``MemPool`` objects and open contexts that hold it.
        may_serve_default: its free blocks serve requests to the default pools before these run out of memory.
        never_splits: a block is handed out whole.
    """

    id: PoolId
    use_count: int = 1
    may_serve_default: bool = False
    never_splits: bool = False
    reserved_bytes: int = 0
    small: BlockPool = field(init=False)
    large: BlockPool = field(init=False)

    def __post_init__(self) -> None:
        self.small = BlockPool(is_small=True, owner=self)
        self.large = BlockPool(is_small=False, owner=self)
