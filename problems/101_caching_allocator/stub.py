"""Problem 101: a caching allocator. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """A piece of device memory, as its owner holds it. Given: leave it as it is.

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


class CachingAllocator:
    """Keeps the segments that it got from the driver, and serves requests from their free blocks.

    Args:
        driver: where segments come from and go back to: any object with the two methods of ``Driver``.
            The tests bring their own.
    """

    def __init__(self, driver: Driver) -> None:
        # TODO: what must be known to find a free block, a freed block's neighbours, and both figures?
        raise NotImplementedError

    def malloc(self, size: int, stream: int = 0) -> Block:
        """Return a block of at least ``size`` bytes for work on ``stream``.

        Args:
            size: bytes wanted, 0 or more.
            stream: number of the stream on which the block will be used.

        Returns:
            The block; its ``size`` is what really belongs to the owner.

        Raises:
            ValueError: ``size`` is negative.
            MemoryError: the driver refused, also after every wholly free segment had gone back.
        """
        # TODO: round up, search, ask the driver where nothing fits, cut off what is left over.
        raise NotImplementedError

    def free(self, block: Block) -> None:
        """Take ``block`` back and merge it with its free neighbours; the driver is not called.

        Raises:
            ValueError: ``block`` is not allocated here.
        """
        # TODO
        raise NotImplementedError

    def empty_cache(self) -> None:
        """Give every wholly free segment back to the driver."""
        # TODO
        raise NotImplementedError

    def memory_allocated(self) -> int:
        """Return the bytes of all blocks that are handed out."""
        # TODO
        raise NotImplementedError

    def memory_reserved(self) -> int:
        """Return the bytes of all segments held from the driver."""
        # TODO
        raise NotImplementedError

    def snapshot(self) -> list[tuple[int, int, int, list[tuple[int, int, bool]]]]:
        """Return ``(base, size, stream, [(addr, size, allocated), …])`` of every segment, all by address."""
        # TODO
        raise NotImplementedError
