"""Reports about fragmented memory."""

from __future__ import annotations

import torch

from tests.conformance.reports.report import Report

MIB = 1 << 20


def allocate(size_mib: int) -> torch.Tensor:
    """Return a tensor of some MiB."""
    return torch.empty(size_mib * MIB, dtype=torch.uint8, device="cuda")


def split_big_block(is_mended: bool) -> bool:
    """Need 400 MiB at one place where 600 are allowed, and half of that is used.

    Cause: a small tensor that lives on was put into the big cached block, which is whole no more.
    Right fix: allocate what is big and lives long first (or ``expandable_segments:True``).

    A pool of its own: what the rest of the process left free would take the small tensor, and nothing would break.
    """
    torch.cuda.empty_cache()
    total_bytes = torch.cuda.mem_get_info()[1]
    limit = torch.cuda.memory_reserved() + 600 * MIB
    torch.cuda.set_per_process_memory_fraction(limit / total_bytes)
    try:
        with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
            if is_mended:
                small = allocate(12)
            big = allocate(400)
            del big
            if not is_mended:
                small = allocate(12)
            again = allocate(400)
            del again, small
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
        torch.cuda.empty_cache()
    return False


def strand_remainder(is_mended: bool) -> bool:
    """Ask for 270 MiB while a block of 530 MiB lies in the cache, then for 530 MiB again.

    Cause: the request takes the big block, and strands 260 MiB of it; the next big one needs a new segment.
    Right fix: ``max_split_size_mb:20``, which leaves big blocks to big requests.
    """
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved()
    if is_mended:
        torch.cuda.memory._set_allocator_settings("max_split_size_mb:20")
    try:
        with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
            big = allocate(530)
            del big
            half = allocate(270)
            big = allocate(530)
            reserved = torch.cuda.memory_reserved() - before
            del half, big
    finally:
        if is_mended:
            torch.cuda.memory._set_allocator_settings("max_split_size_mb:1048576")
        torch.cuda.empty_cache()
    return reserved > 900 * MIB


REPORTS = (
    Report(
        "big_block_split_by_a_small_tensor",
        "pytorch/pytorch#35901",
        lambda: split_big_block(False),
        lambda: split_big_block(True),
        error="CUDA out of memory. Tried to allocate 400.00 MiB.",
    ),
    Report(
        "remainder_stranded",
        "vllm-project/vllm#41268",
        lambda: strand_remainder(False),
        lambda: strand_remainder(True),
    ),
)
