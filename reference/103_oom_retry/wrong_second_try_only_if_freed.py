"""Where nothing could go back, the GPU is not asked again.

Caught by: test_1_retry.py::test_the_gpu_is_asked_again_though_nothing_went_back
"""

from __future__ import annotations

from dataclasses import dataclass

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True)
class Block:
    """A piece of device memory, as its owner holds it: address and bytes. Given: leave it as it is."""

    addr: int
    size: int


@dataclass(frozen=True)
class Segment:
    """What one call of ``gpu.malloc`` returned. Given: leave it as it is."""

    base: int  # address of the first byte
    size: int
    is_small: bool  # whether it belongs to the small pool, else to the large one
    stream: int  # the stream that it serves
    handed_out: tuple[Block, ...]  # the blocks with an owner, by address
    free: tuple[Block, ...]  # the free blocks, by address; no two of them touch


class Gpu:
    """Stand-in for a GPU's memory, of which others use some too. Given: leave it as it is."""

    def __init__(self, total_bytes: int, others_bytes: int = 0) -> None:
        self._total_bytes, self._others_bytes = total_bytes, others_bytes
        self._next_base = 0
        self._sizes: dict[int, int] = {}

    def malloc(self, size_bytes: int) -> int:
        """Return the address of a new segment, as ``cudaMalloc``; ``MemoryError`` where less than that is free."""
        if size_bytes > self.mem_get_info()[0]:
            raise MemoryError(f"{size_bytes} bytes wanted")
        base = self._next_base
        self._next_base += size_bytes
        self._sizes[base] = size_bytes
        return base

    def free(self, address: int) -> None:
        """Take the segment that starts at ``address`` back, as ``cudaFree``."""
        del self._sizes[address]

    def mem_get_info(self) -> tuple[int, int]:
        """Return free and total bytes of the GPU, as ``torch.cuda.mem_get_info()``."""
        return self._total_bytes - self._others_bytes - sum(self._sizes.values()), self._total_bytes


def round_size(size: int) -> int:
    """Return the bytes of a block for a request: problem 101's rule. Given; ``ValueError`` if ``size`` is negative."""
    if size < 0:
        raise ValueError(f"size must not be negative, got {size}")
    return max(512, -(-size // 512) * 512)


def segment_size(size: int) -> int:
    """Return the bytes of the segment that is asked for when no block fits: problem 101's rule. Given."""
    wanted = round_size(size)
    return 2 * MIB if wanted <= MIB else 20 * MIB if wanted < 10 * MIB else -(-wanted // (2 * MIB)) * (2 * MIB)


class Cache:
    """Segments and their blocks, with problem 101's rules; it never calls the GPU. Given: leave it as it is."""

    def __init__(self) -> None:
        self._segments: dict[int, tuple[int, bool, int]] = {}  # by base: size, is it small, stream
        self._free: dict[int, tuple[int, int]] = {}  # by address: size, base of the segment
        self._used: dict[int, tuple[int, int]] = {}

    @property
    def allocated(self) -> int:
        """Bytes of all blocks that are handed out."""
        return sum(size for size, _ in self._used.values())

    @property
    def reserved(self) -> int:
        """Bytes of all segments."""
        return sum(size for size, _, _ in self._segments.values())

    def segments(self) -> list[Segment]:
        """Return all segments by base, as they are now."""
        return [
            Segment(base, *rest, self._blocks_of(base, self._used), self._blocks_of(base, self._free))
            for base, rest in sorted(self._segments.items())
        ]

    def take(self, size: int, stream: int) -> Block | None:
        """Hand out the smallest sufficient free block of the request's pool and stream; None if there is none."""
        wanted = round_size(size)
        pool = (wanted <= MIB, stream)
        fits = [
            (has, at) for at, (has, base) in self._free.items() if has >= wanted and self._segments[base][1:] == pool
        ]
        if not fits:
            return None
        has, at = min(fits)
        _, base = self._free.pop(at)
        if has - wanted >= (512 if wanted <= MIB else MIB + 1):
            self._free[at + wanted] = (has - wanted, base)
            has = wanted
        self._used[at] = (has, base)
        return Block(at, has)

    def put(self, block: Block) -> None:
        """Take a block back and merge it with its free neighbours; ``ValueError`` if it isn't handed out."""
        size, base = self._used.get(block.addr, (-1, -1))
        if size != block.size:
            raise ValueError(f"{block} is not handed out")
        del self._used[block.addr]
        at, end = block.addr, block.addr + size
        for near, (has, home) in list(self._free.items()):
            if home == base and (near + has == at or near == end):
                del self._free[near]
                at, end = min(at, near), max(end, near + has)
        self._free[at] = (end - at, base)

    def add(self, base: int, size: int, stream: int) -> None:
        """Enter a new segment, one free block, for requests of ``stream``; its size tells its pool."""
        self._segments[base] = (size, size == 2 * MIB, stream)
        self._free[base] = (size, base)

    def remove(self, base: int) -> None:
        """Strike a segment from the books; ``ValueError`` unless it is one free block."""
        if self._free.get(base) != (self._segments[base][0], base):
            raise ValueError(f"the segment at {base:#x} is in use")
        del self._free[base], self._segments[base]

    @staticmethod
    def _blocks_of(base: int, blocks: dict[int, tuple[int, int]]) -> tuple[Block, ...]:
        return tuple(Block(addr, size) for addr, (size, home) in sorted(blocks.items()) if home == base)


@dataclass(frozen=True)
class OomReport:
    """The figures of an out-of-memory error, in bytes. Given: leave it as it is."""

    wanted: int  # what the GPU was asked for
    total: int  # memory of the GPU
    free: int  # memory of the GPU that nobody uses
    allowed: int | None  # the allocator's limit
    allocated: int  # in blocks that are handed out
    cached: int  # in segments, but not handed out


class OutOfMemoryError(MemoryError):
    """A request can't be served, also after all unused segments went back. Given: leave it as it is."""

    def __init__(self, report: OomReport) -> None:
        super().__init__(explain(report))
        self.report = report


@dataclass(frozen=True)
class Diagnosis:
    """Why a request can't be served; rule 8 says what each figure is. Given: leave it as it is."""

    cause: str  # "fits", "fragmented", "elsewhere" or "in_use"
    largest: int  # bytes
    own: int  # bytes
    other: int  # bytes
    in_the_way: tuple[Block, ...]


def format_size(size_bytes: int) -> str:
    """Return a size as PyTorch writes it: ``"512 bytes"``, ``"1.50 KiB"``, ``"20.00 MiB"``, ``"1.17 GiB"``."""
    if size_bytes <= KIB:
        return f"{size_bytes} bytes"
    for name, unit in (("KiB", KIB), ("MiB", MIB)):
        if size_bytes <= 1024 * unit:
            return f"{size_bytes / unit:.2f} {name}"
    return f"{size_bytes / GIB:.2f} GiB"


def explain(report: OomReport) -> str:
    """Return PyTorch's text for the figures."""
    allowed = "" if report.allowed is None else f"{format_size(report.allowed)} allowed; "
    return (
        f"CUDA out of memory. Tried to allocate {format_size(report.wanted)}. "
        f"GPU 0 has a total capacity of {format_size(report.total)} of which {format_size(report.free)} is free. "
        f"{allowed}Of the allocated memory {format_size(report.allocated)} is allocated by PyTorch, "
        f"and {format_size(report.cached)} is reserved by PyTorch but unallocated."
    )


class Allocator:
    """A caching allocator with a limit, which says why it could not serve a request.

    Args:
        gpu: any object with the three methods of ``Gpu``. The tests bring their own.
        limit: most bytes that all segments together may have, as set by a memory fraction; None for no limit.
    """

    def __init__(self, gpu: Gpu, limit: int | None = None) -> None:
        self._gpu = gpu
        self._limit = limit
        self.cache = Cache()
        self._stats = dict.fromkeys(("num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free"), 0)

    def malloc(self, size: int, stream: int = 0) -> Block:
        """Return a block of at least ``size`` bytes for work on ``stream``.

        Raises:
            ValueError: ``size`` is negative.
            OutOfMemoryError: no segment could be had, also after all unused ones went back.
        """
        block = self.cache.take(size, stream)
        if block is not None:
            return block
        if not self._add_segment(size, stream):
            before = self.cache.reserved
            self.empty_cache()
            self._stats["num_alloc_retries"] += self.cache.reserved < before
            if self.cache.reserved == before or not self._add_segment(size, stream):
                self._stats["num_ooms"] += 1
                raise OutOfMemoryError(self._report(size))
        return self.cache.take(size, stream)

    def free(self, block: Block) -> None:
        """Take ``block`` back; ``ValueError`` if it isn't handed out. Given: leave it as it is."""
        self.cache.put(block)

    def empty_cache(self) -> None:
        """Give every segment without a block in use back to the GPU."""
        for segment in self.cache.segments():
            if not segment.handed_out:
                self._gpu.free(segment.base)
                self.cache.remove(segment.base)
                self._stats["num_device_free"] += 1

    def memory_stats(self) -> dict[str, int]:
        """Return ``num_alloc_retries``, ``num_ooms``, ``num_device_alloc`` and ``num_device_free``."""
        return dict(self._stats)

    def diagnose(self, size: int, stream: int = 0) -> Diagnosis:
        """Say whether ``malloc(size, stream)`` would be served now, and if not, why; nothing changes.

        Raises:
            ValueError: ``size`` is negative.
        """
        wanted, segments = round_size(size), self.cache.segments()
        own = [it for it in segments if (it.is_small, it.stream) == (wanted <= MIB, stream)]
        pinned = [it for it in segments if it.handed_out]
        largest = max((block.size for it in own for block in it.free), default=0)
        own_bytes, other_bytes = _sum_free(own), _sum_free([it for it in pinned if it not in own])
        room = self._room() + sum(it.size for it in segments if not it.handed_out)
        if largest >= wanted or room >= segment_size(size):
            return Diagnosis("fits", largest, own_bytes, other_bytes, ())
        cures = [it for it in pinned if room + it.size >= segment_size(size) or (it in own and it.size >= wanted)]
        cheapest = min(cures, key=lambda it: sum(block.size for block in it.handed_out), default=None)
        in_the_way = cheapest.handed_out if cheapest else ()
        if own_bytes >= wanted:
            return Diagnosis("fragmented", largest, own_bytes, other_bytes, in_the_way)
        cause = "elsewhere" if own_bytes + other_bytes >= wanted else "in_use"
        return Diagnosis(cause, largest, own_bytes, other_bytes, in_the_way)

    def _room(self) -> int:
        """Return the bytes that the next segment may have: what the GPU has left, and what the limit leaves."""
        free, _ = self._gpu.mem_get_info()
        return free if self._limit is None else min(free, self._limit - self.cache.reserved)

    def _add_segment(self, size: int, stream: int) -> bool:
        """Get a segment for a request; return whether there was one."""
        wanted = segment_size(size)
        if self._limit is not None and self.cache.reserved + wanted > self._limit:
            return False
        try:
            base = self._gpu.malloc(wanted)
        except MemoryError:
            return False
        self._stats["num_device_alloc"] += 1
        self.cache.add(base, wanted, stream)
        return True

    def _report(self, size: int) -> OomReport:
        free, total = self._gpu.mem_get_info()
        allocated = self.cache.allocated
        cached = self.cache.reserved - allocated
        return OomReport(segment_size(size), total, free, self._limit, allocated, cached)


def _sum_free(segments: list[Segment]) -> int:
    return sum(block.size for it in segments for block in it.free)
