"""Freeing a block that is free already is passed over in silence.

Caught by: test_4_failures.py::test_a_block_is_freed_once
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from sortedcontainers import SortedList

KIB = 1024
MIB = 1024 * KIB

GRAIN = 512  # every block's size is a multiple of it
SMALL_BLOCK = MIB  # the largest block of the small pool
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
OWN_SEGMENT = 10 * MIB  # from this size on, a block gets a segment of nearly its own size
SEGMENT_GRAIN = 2 * MIB
LARGE_REST = MIB  # a rest of at most this much stays with a large block


@dataclass(frozen=True)
class Block:
    """A piece of device memory, as its owner holds it.

    Args:
        addr: address of the first byte.
        size: bytes that belong to the owner, a multiple of 512, at least what was asked for.
    """

    addr: int
    size: int


class Driver:
    """Stand-in for ``cudaMalloc`` and ``cudaFree``. Given: leave it as it is.

    Segments follow one another from address 0, and an address is never handed out twice.

    Args:
        capacity: bytes of the device.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self._next_base = 0
        self._sizes: dict[int, int] = {}

    def malloc(self, size_bytes: int) -> int:
        """Return the address of a new segment.

        Args:
            size_bytes: bytes wanted.

        Raises:
            MemoryError: less than that is left of the capacity.
        """
        if self.used + size_bytes > self.capacity:
            raise MemoryError(f"{size_bytes} bytes wanted; {self.used} of {self.capacity} in use")
        base = self._next_base
        self._next_base += size_bytes
        self._sizes[base] = size_bytes
        self.used += size_bytes
        return base

    def free(self, address: int) -> None:
        """Take the segment that starts at ``address`` back.

        Raises:
            ValueError: no segment in use starts there.
        """
        if address not in self._sizes:
            raise ValueError(f"no segment starts at {address:#x}")
        self.used -= self._sizes.pop(address)


@dataclass
class _Segment:
    """What one call of the driver returned; all its blocks belong to one pool: its kind and its stream."""

    base: int
    size: int
    is_small: bool
    stream: int


@dataclass
class _Chunk:
    """A block inside, free or not. The chunks of a segment cover it without a gap."""

    addr: int
    size: int
    segment: _Segment
    is_free: bool = True

    @property
    def end(self) -> int:
        return self.addr + self.size


class CachingAllocator:
    """Keeps the segments that it got from the driver, and serves requests from their free blocks.

    Args:
        driver: where segments come from and go back to.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._segments: dict[int, _Segment] = {}
        self._by_addr: dict[int, _Chunk] = {}
        self._by_end: dict[int, _Chunk] = {}
        self._free: defaultdict[tuple[bool, int], SortedList[tuple[int, int]]] = defaultdict(SortedList)
        self._allocated_bytes = 0
        self._reserved_bytes = 0

    def malloc(self, size: int, stream: int = 0) -> Block:
        """Return a block of at least ``size`` bytes for work on ``stream``.

        Raises:
            ValueError: ``size`` is negative.
            MemoryError: the driver refused, also after every wholly free segment had gone back.
        """
        if size < 0:
            raise ValueError(f"size must not be negative, got {size}")
        wanted = max(GRAIN, _round_up(size, GRAIN))
        is_small = wanted <= SMALL_BLOCK
        pool = self._free[is_small, stream]
        # (wanted,) sorts before every (wanted, addr): the lowest address among equal sizes comes first.
        at = pool.bisect_left((wanted,))
        if at == len(pool):
            # All that can fail happens in here, before anything is taken from the books.
            self._add_segment(_segment_size(wanted), is_small, stream)
            at = pool.bisect_left((wanted,))
        _, addr = pool.pop(at)
        chunk = self._by_addr[addr]
        chunk.is_free = False
        if _is_worth_splitting(chunk.size - wanted, is_small):
            self._split(chunk, wanted)
        self._allocated_bytes += chunk.size
        return Block(chunk.addr, chunk.size)

    def free(self, block: Block) -> None:
        """Take ``block`` back and merge it with its free neighbours; the driver is not called.

        Raises:
            ValueError: ``block`` is not allocated here.
        """
        chunk = self._by_addr.get(block.addr)
        if chunk is None or chunk.is_free:
            return
        if chunk.size != block.size:
            raise ValueError(f"{block} is not allocated")
        self._allocated_bytes -= chunk.size
        before = self._by_end.get(chunk.addr)
        after = self._by_addr.get(chunk.end)
        self._drop(chunk)
        # Segments may lie side by side in memory: a neighbour counts only inside the same one.
        if before is not None and before.is_free and before.segment is chunk.segment:
            self._drop(before)
            chunk.addr = before.addr
            chunk.size += before.size
        if after is not None and after.is_free and after.segment is chunk.segment:
            self._drop(after)
            chunk.size += after.size
        chunk.is_free = True
        self._keep(chunk)

    def empty_cache(self) -> None:
        """Give every wholly free segment back to the driver."""
        for segment in list(self._segments.values()):
            chunk = self._by_addr[segment.base]
            if chunk.is_free and chunk.size == segment.size:
                self._driver.free(segment.base)
                self._drop(chunk)
                del self._segments[segment.base]
                self._reserved_bytes -= segment.size

    def memory_allocated(self) -> int:
        """Return the bytes of all blocks that are handed out."""
        return self._allocated_bytes

    def memory_reserved(self) -> int:
        """Return the bytes of all segments held from the driver."""
        return self._reserved_bytes

    def snapshot(self) -> list[tuple[int, int, int, list[tuple[int, int, bool]]]]:
        """Return ``(base, size, stream, [(addr, size, allocated), …])`` of every segment, all by address."""
        return [
            (segment.base, segment.size, segment.stream, self._blocks_of(segment))
            for _, segment in sorted(self._segments.items())
        ]

    def _blocks_of(self, segment: _Segment) -> list[tuple[int, int, bool]]:
        blocks = []
        addr = segment.base
        while addr < segment.base + segment.size:
            chunk = self._by_addr[addr]
            blocks.append((chunk.addr, chunk.size, not chunk.is_free))
            addr = chunk.end
        return blocks

    def _add_segment(self, size: int, is_small: bool, stream: int) -> None:
        """Get a segment from the driver; if it refuses, give back what is wholly free and ask once more."""
        try:
            base = self._driver.malloc(size)
        except MemoryError:
            self.empty_cache()
            base = self._driver.malloc(size)
        segment = _Segment(base, size, is_small, stream)
        self._segments[base] = segment
        self._reserved_bytes += size
        self._keep(_Chunk(base, size, segment))

    def _split(self, chunk: _Chunk, wanted: int) -> None:
        """Cut ``chunk``, which is on its way out, to ``wanted`` bytes; the rest becomes a free block."""
        rest = _Chunk(chunk.addr + wanted, chunk.size - wanted, chunk.segment)
        chunk.size = wanted
        self._by_end[chunk.end] = chunk
        self._keep(rest)

    def _keep(self, chunk: _Chunk) -> None:
        """Enter a free chunk in the books."""
        self._by_addr[chunk.addr] = chunk
        self._by_end[chunk.end] = chunk
        self._free[chunk.segment.is_small, chunk.segment.stream].add((chunk.size, chunk.addr))

    def _drop(self, chunk: _Chunk) -> None:
        """Strike a chunk, free or not, from the books."""
        del self._by_addr[chunk.addr]
        del self._by_end[chunk.end]
        if chunk.is_free:
            self._free[chunk.segment.is_small, chunk.segment.stream].remove((chunk.size, chunk.addr))


def _round_up(size: int, grain: int) -> int:
    return -(-size // grain) * grain


def _segment_size(wanted: int) -> int:
    if wanted <= SMALL_BLOCK:
        return SMALL_SEGMENT
    if wanted < OWN_SEGMENT:
        return LARGE_SEGMENT
    return _round_up(wanted, SEGMENT_GRAIN)


def _is_worth_splitting(rest: int, is_small: bool) -> bool:
    return rest >= GRAIN if is_small else rest > LARGE_REST
