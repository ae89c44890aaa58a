"""Arenas: large ranges of the host's address space that stand for device memory and for pinned memory."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
from collections.abc import Callable
from functools import cache

DEVICE_BASE = 0x4000_0000_0000
"""Where the arena of device 0 begins; the same in every run, so that ``data_ptr()`` is too."""

DEVICE_SPAN_BYTES = 20 << 40
"""Addresses for the device: far more than its memory, because expandable segments reserve ranges without memory.

Programs and their heap lie above, from 0x5555_5555_0000 on.
"""

PINNED_BASE = 0x5800_0000_0000
"""Where pinned host memory begins."""

PINNED_SPAN_BYTES = 1 << 40

MARGIN_BYTES = 2 << 20
"""Left unused at the end of an arena: tensors without elements point there."""

_MAP_NORESERVE = 0x4000
_MAP_FIXED_NOREPLACE = 0x10_0000
_MADV_DONTDUMP = 16
_MAP_FAILED = ctypes.c_void_p(-1).value

_spare: list[tuple[int, int]] = []
"""Base and span of mappings whose arena is closed and that no storage points into any more."""

_retired: list[tuple[int, int, Callable[[], bool]]] = []
"""Base and span of mappings whose arena is closed, and whether storages still point into them."""

_held: list[tuple[int, int, Callable[[], bool]]] = []
"""Those of them that were in use even after a search for garbage."""

SMALLER = 16
"""By how much less an arena makes do with where the host does not give out the whole range."""


class Arena:
    """A range of addresses that reads as zeros and takes pages of the host only where it is written.

    Args:
        base: where it should begin; elsewhere if those addresses are taken.
        span_bytes: length of the range; a sixteenth of it where the host does not give out the whole.

    Raises:
        MemoryError: the host does not give out so many addresses either, for example under ``ulimit -v``.
    """

    def __init__(self, base: int = DEVICE_BASE, span_bytes: int = DEVICE_SPAN_BYTES) -> None:
        self.base, span_bytes = _take_mapping(base, span_bytes)
        self.end = self.base + span_bytes
        self.null_address = self.end - MARGIN_BYTES
        """Where tensors without elements point: inside the arena, outside of every block."""
        self._memory = memoryview((ctypes.c_char * span_bytes).from_address(self.base)).cast("B")
        self._is_open = True

    def __contains__(self, address: int) -> bool:
        return self.base <= address < self.end

    def view(self, address: int, size: int) -> memoryview:
        """Return the ``size`` bytes from an address on; writing to the view writes to the arena."""
        start = address - self.base
        return self._memory[start : start + size]

    def drop(self, address: int, size: int) -> None:
        """Give the pages of a range back to the host; the range reads as zeros again.

        Args:
            address: of the first byte, a multiple of the page size.
            size: bytes, a multiple of the page size.
        """
        _libc().madvise(address, size, mmap.MADV_DONTNEED)

    def close(self, is_in_use: Callable[[], bool] = lambda: False) -> None:
        """Give all pages back, and the addresses to a later arena.

        The mapping itself stays: what still points into it must not bring the process down.

        Args:
            is_in_use: tells whether storages in the arena have outlived it; until none has, their bytes and
                addresses stay theirs.
        """
        if self._is_open:
            self._is_open = False
            _retired.append((self.base, self.end - self.base, is_in_use))
            _sweep()


def _sweep() -> None:
    """Make mappings spare that nothing points into any more."""
    for mapping in list(_retired):
        base, span_bytes, is_in_use = mapping
        if not is_in_use():
            _retired.remove(mapping)
            _libc().madvise(base, span_bytes, mmap.MADV_DONTNEED)
            _spare.append((base, span_bytes))


def _take_mapping(base: int, span_bytes: int) -> tuple[int, int]:
    """Return where a mapping begins, and its length."""
    _sweep()
    if (base, span_bytes) in _spare:
        _spare.remove((base, span_bytes))
        return base, span_bytes
    address = _map(base, span_bytes, _MAP_FIXED_NOREPLACE)
    if address is not None and address != base:  # a kernel before 4.17 takes the address for a hint
        _libc().munmap(address, span_bytes)
        address = None
    if address is None:
        _collect()
        spare = _take_spare(base, span_bytes)
        if spare is not None:
            return spare
        address = _map(0, span_bytes, 0)
    if address is None:
        span_bytes //= SMALLER
        address = _map(0, span_bytes, 0)
    if address is None:
        reason = os.strerror(ctypes.get_errno())
        raise MemoryError(f"no {span_bytes >> 30} GiB of addresses for a simulated device: {reason}")
    _libc().madvise(address, span_bytes, _MADV_DONTDUMP)
    return address, span_bytes


def _take_spare(base: int, span_bytes: int) -> tuple[int, int] | None:
    """Return a spare mapping that will do, if there is one; best the one that was asked for."""
    fitting = [spare for spare in _spare if spare[1] in (span_bytes, span_bytes // SMALLER)]
    if not fitting:
        return None
    spare = min(fitting, key=lambda spare: (spare != (base, span_bytes), -spare[1]))
    _spare.remove(spare)
    return spare


def _collect() -> None:
    """Look for garbage if it may hold mappings: cycles of it hold storages. What is left after that is truly in use."""
    if any(mapping not in _held for mapping in _retired):
        gc.collect()
        _sweep()
        _held[:] = _retired


def _map(address: int, size: int, flags: int) -> int | None:
    """Map memory and return where it begins, or ``None``."""
    found = _libc().mmap(
        address,
        size,
        mmap.PROT_READ | mmap.PROT_WRITE,
        mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE | flags,
        -1,
        0,
    )
    return None if found == _MAP_FAILED else int(found)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return libc
