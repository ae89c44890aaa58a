"""How sizes are rounded: of a block, and of the segment that it may need."""

from __future__ import annotations

from collections.abc import Sequence

KIB = 1024
MIB = 1024 * KIB

MIN_BLOCK_BYTES = 512
SMALL_LIMIT_BYTES = MIB
SMALL_SEGMENT_BYTES = 2 * MIB
OWN_SEGMENT_BYTES = 10 * MIB
SEGMENT_GRAIN_BYTES = 2 * MIB
DIVISION_INTERVALS = 16


def round_up(size_bytes: int, grain_bytes: int) -> int:
    """Return the smallest multiple of ``grain_bytes`` that is not below ``size_bytes``."""
    return -(-size_bytes // grain_bytes) * grain_bytes


def is_power_of_two(number: int) -> bool:
    """Tell whether exactly one bit of ``number`` is set."""
    return number > 0 and number & (number - 1) == 0


def round_size(size_bytes: int, divisions: Sequence[int]) -> int:
    """Return the bytes of the block that serves a request.

    Args:
        size_bytes: bytes asked for, above 0.
        divisions: steps between two powers of two, for each of 16 intervals: the first one holds sizes
            below 2 MiB, the next ones those from 2, 4, 8 … MiB on, the last one those from 32 GiB on.
            0 and 1 round up to multiples of 512 bytes.

    Returns:
        At least 512 bytes.

    Source: c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.cpp, torch 2.13.
    """
    if size_bytes < MIN_BLOCK_BYTES:
        return MIN_BLOCK_BYTES
    interval = min(max(size_bytes.bit_length() - MIB.bit_length(), 0), DIVISION_INTERVALS - 1)
    steps = divisions[interval]
    if steps > 1 and size_bytes > MIN_BLOCK_BYTES * steps:
        return _round_to_division(size_bytes, steps)
    return round_up(size_bytes, MIN_BLOCK_BYTES)


def _round_to_division(size_bytes: int, steps: int) -> int:
    """Round up to the next of ``steps`` equal steps from a power of two to the next one."""
    floor = 1 << (size_bytes.bit_length() - 1)
    return round_up(size_bytes, floor // steps)


def round_segment(block_bytes: int, large_segment_bytes: int) -> int:
    """Return the bytes of a new segment for a block.

    Args:
        block_bytes: the block's rounded size.
        large_segment_bytes: the setting of that name; serves blocks above 1 MiB and below 10 MiB.

    Source: c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
    """
    if block_bytes <= SMALL_LIMIT_BYTES:
        return SMALL_SEGMENT_BYTES
    if block_bytes < OWN_SEGMENT_BYTES:
        return large_segment_bytes
    return round_up(block_bytes, SEGMENT_GRAIN_BYTES)
