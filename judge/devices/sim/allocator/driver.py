"""What the allocator gets device memory from: ``cudaMalloc`` and its relatives, real or made up."""

from __future__ import annotations

from bisect import insort
from typing import Protocol

from judge.devices.sim.allocator.sizes import SEGMENT_GRAIN_BYTES, round_up


class DriverOutOfMemory(Exception):
    """The device has less memory left than a call asked for."""


class Driver(Protocol):
    """Gives out addresses and memory. All sizes are bytes."""

    @property
    def total_bytes(self) -> int:
        """Memory of the device."""

    @property
    def free_bytes(self) -> int:
        """Memory of the device that nothing uses."""

    def allocate(self, size: int) -> int:
        """Return the address of new memory (``cudaMalloc``); ``DriverOutOfMemory`` when there is too little."""

    def release(self, address: int, size: int) -> None:
        """Take memory back (``cudaFree``)."""

    def reserve(self, size: int) -> int:
        """Return the start of a range of addresses without memory (``cuMemAddressReserve``)."""

    def unreserve(self, address: int, size: int) -> None:
        """Take a range of addresses back (``cuMemAddressFree``)."""

    def map(self, address: int, size: int) -> None:
        """Back reserved addresses with memory (``cuMemMap``); ``DriverOutOfMemory`` when there is too little."""

    def unmap(self, address: int, size: int) -> None:
        """Take the memory behind reserved addresses back (``cuMemUnmap``)."""


class LinearDriver:
    """A driver with the same addresses in every run: each call gets the lowest range that is free.

    Args:
        total_bytes: memory of the device.
        base: address of the first byte.
        used_bytes: memory that others hold, the CUDA context for example.
    """

    def __init__(self, total_bytes: int, *, base: int = 0x7000_0000_0000, used_bytes: int = 0) -> None:
        self._total_bytes = total_bytes
        self._used_bytes = used_bytes
        self._base = base
        self._ranges: list[tuple[int, int]] = []
        """Start and end of each range that is given out, by address."""

    @property
    def total_bytes(self) -> int:
        """Memory of the device."""
        return self._total_bytes

    @property
    def free_bytes(self) -> int:
        """Memory of the device that nothing uses."""
        return self._total_bytes - self._used_bytes

    def allocate(self, size: int) -> int:
        """Return the address of new memory, a multiple of 2 MiB above the base.

        Raises:
            DriverOutOfMemory: less than ``size`` bytes are left.
        """
        self._use(size)
        return self.reserve(size)

    def release(self, address: int, size: int) -> None:
        """Take memory back."""
        self.unreserve(address, size)
        self._used_bytes -= size

    def reserve(self, size: int) -> int:
        """Return the start of the lowest range of addresses that is free."""
        start = self._base
        for first, end in self._ranges:
            if first - start >= size:
                break
            start = self._base + round_up(end - self._base, SEGMENT_GRAIN_BYTES)
        insort(self._ranges, (start, start + size))
        return start

    def unreserve(self, address: int, size: int) -> None:
        """Take a range of addresses back.

        Raises:
            ValueError: it was not given out like this.
        """
        self._ranges.remove((address, address + size))

    def map(self, address: int, size: int) -> None:  # noqa: ARG002  # part of the interface
        """Back reserved addresses with memory.

        Raises:
            DriverOutOfMemory: less than ``size`` bytes are left.
        """
        self._use(size)

    def unmap(self, address: int, size: int) -> None:  # noqa: ARG002  # part of the interface
        """Take the memory behind reserved addresses back."""
        self._used_bytes -= size

    def _use(self, size: int) -> None:
        if size > self.free_bytes:
            raise DriverOutOfMemory(f"{size} bytes wanted, {self.free_bytes} of {self._total_bytes} are free")
        self._used_bytes += size
