"""The driver behind the simulated allocator: addresses as the real driver gives them out, pages of an arena."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable

from judge.devices.sim.allocator.driver import DriverOutOfMemory
from judge.devices.sim.allocator.sizes import MIB, SEGMENT_GRAIN_BYTES, round_up
from judge.devices.sim.arena import Arena

CHUNK_GRAIN_BYTES = 32 * MIB
"""The real driver asks for addresses in multiples of this, and cuts segments from them."""

CONTEXT_CHUNK_BYTES = 6 * MIB
"""What the CUDA context has taken from the first chunk when PyTorch asks for its first segment."""

DriverCall = Callable[[str, int], None]
"""Told the name and the bytes of each call to the driver, before it takes effect: ``cudaMalloc``, ``cudaFree`` …"""

Release = Callable[[int, int], None]
"""Told the address and the bytes of memory that has gone back."""


def ignore_call(_name: str, _size: int) -> None:
    """Do nothing about a call to the driver."""


class ArenaDriver:
    """Gives out parts of an arena.

    Segments are cut from chunks of 32 MiB or a multiple of it. A request gets the lowest hole of the chunks that
    exist, else a new chunk below all others; a chunk without segments goes back. So a younger segment mostly has the
    lower address, which decides between blocks of equal size. Found by looking at an H200's addresses: 16 recorded
    traces are reproduced to the byte, flushes included; the others begin in a state of the driver that is not known.
    Ranges of expandable segments are given out from the arena's beginning upwards.

    Args:
        arena: where memory lies.
        total_bytes: memory of the device.
        used_bytes: memory that others hold, the CUDA context for example.
        on_call: told of each call.
        on_release: told of memory that has gone back.
    """

    def __init__(
        self,
        arena: Arena,
        total_bytes: int,
        *,
        used_bytes: int = 0,
        on_call: DriverCall = ignore_call,
        on_release: Release | None = None,
    ) -> None:
        self._arena = arena
        self._total_bytes = total_bytes
        self._used_bytes = used_bytes
        self.has_grown = False
        """Set when memory is given out; whoever wants to know takes it back."""
        self._on_call = on_call
        self._on_release = on_release
        self._middle = arena.base + round_up((arena.end - arena.base) * 4 // 5, CHUNK_GRAIN_BYTES)
        """Where the first chunk begins; the others lie below."""
        self._chunks: dict[int, int] = {self._middle: CHUNK_GRAIN_BYTES}
        """Bytes of each chunk, by where it begins."""
        self._segments: list[tuple[int, int]] = [(self._middle, CONTEXT_CHUNK_BYTES)]
        """Address and bytes of what has been cut from the chunks, by address."""
        self._ranges: list[tuple[int, int]] = []

    @property
    def total_bytes(self) -> int:
        """Memory of the device."""
        return self._total_bytes

    @property
    def free_bytes(self) -> int:
        """Memory of the device that nothing uses."""
        return self._total_bytes - self._used_bytes

    def allocate(self, size: int) -> int:
        """Return the address of new memory (``cudaMalloc``).

        Raises:
            DriverOutOfMemory: the device has less left.
        """
        self._on_call("cudaMalloc", size)
        self._use(size)
        wanted = round_up(size, SEGMENT_GRAIN_BYTES)
        address = self._find_hole(wanted)
        if address is None:
            address = self._add_chunk(wanted)
        insort(self._segments, (address, wanted))
        return address

    def release(self, address: int, size: int) -> None:
        """Take memory back (``cudaFree``).

        Synchronises: yes, the device.
        """
        self._on_call("cudaFree", size)
        wanted = round_up(size, SEGMENT_GRAIN_BYTES)
        self._segments.remove((address, wanted))
        start = max(first for first in self._chunks if first <= address)
        if not self._cut_from(start):
            del self._chunks[start]
        self._give_back(address, size)

    def reserve(self, size: int) -> int:
        """Return the start of a range of addresses (``cuMemAddressReserve``), the lowest that is free.

        Raises:
            DriverOutOfMemory: the arena has no such range left.
        """
        start = self._arena.base
        for first, length in self._ranges:
            if first - start >= size:
                break
            start = round_up(first + length, SEGMENT_GRAIN_BYTES)
        if start + size > min(self._chunks, default=self._middle):
            raise DriverOutOfMemory(f"no range of {size} bytes is left in the arena")
        insort(self._ranges, (start, size))
        return start

    def unreserve(self, address: int, size: int) -> None:
        """Take a range of addresses back (``cuMemAddressFree``)."""
        self._ranges.remove((address, size))

    def map(self, address: int, size: int) -> None:  # noqa: ARG002  # part of the interface
        """Back reserved addresses with memory (``cuMemMap``).

        Raises:
            DriverOutOfMemory: the device has less left.
        """
        self._on_call("cuMemMap", size)
        self._use(size)

    def unmap(self, address: int, size: int) -> None:
        """Take the memory behind reserved addresses back (``cuMemUnmap``)."""
        self._on_call("cuMemUnmap", size)
        self._give_back(address, size)

    def _use(self, size: int) -> None:
        if size > self.free_bytes:
            raise DriverOutOfMemory(f"{size} bytes wanted, {self.free_bytes} of {self._total_bytes} are free")
        self._used_bytes += size
        self.has_grown = True

    def _give_back(self, address: int, size: int) -> None:
        self._used_bytes -= size
        if self._on_release is not None:
            self._on_release(address, size)
        self._arena.drop(address, size)

    def _find_hole(self, size: int) -> int | None:
        """Return the lowest address in a chunk from which on ``size`` bytes are free."""
        for start in sorted(self._chunks):
            address = start
            for first, length in self._cut_from(start):
                if first - address >= size:
                    return address
                address = first + length
            if start + self._chunks[start] - address >= size:
                return address
        return None

    def _add_chunk(self, size: int) -> int:
        """Return the start of a new chunk: the highest place below the first chunk that has room for it."""
        length = round_up(size, CHUNK_GRAIN_BYTES)
        end = self._middle
        for start in sorted(self._chunks, reverse=True):
            if end - (start + self._chunks[start]) >= length:
                break
            end = min(end, start)
        if end - length < max((first + size for first, size in self._ranges), default=self._arena.base):
            raise DriverOutOfMemory(f"no {length} bytes of addresses are left in the arena")
        self._chunks[end - length] = length
        return end - length

    def _cut_from(self, start: int) -> list[tuple[int, int]]:
        """Return what has been cut from a chunk, by address."""
        first = bisect_left(self._segments, (start,))
        last = bisect_left(self._segments, (start + self._chunks[start],))
        return self._segments[first:last]
