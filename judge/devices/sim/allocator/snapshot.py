"""Memory snapshots: segments and their blocks in PyTorch's format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from judge.devices.sim.allocator.blocks import Block
from judge.devices.sim.allocator.pools import DEFAULT_POOL

SegmentInfo = dict[str, Any]
"""A segment as ``torch.cuda.memory_snapshot`` describes it: numbers, strings, its pool id, frames and blocks."""


def describe_segments(blocks: Iterable[Block], device: int) -> list[SegmentInfo]:
    """Return all segments by address; of an expandable segment, one for each run that memory backs.

    Args:
        blocks: all blocks, free and not, in any order.
        device: index of the device.

    Source: ``snapshot`` in c10/cuda/CUDACachingAllocator.cpp and torch/csrc/cuda/memory_snapshot.cpp, torch 2.13.
    """
    heads = [block for block in blocks if block.previous is None or not block.previous.is_mapped]
    return [_describe_segment(head, device) for head in sorted(heads, key=lambda head: head.address)]


def _describe_segment(head: Block, device: int) -> SegmentInfo:
    blocks = _run_from(head)
    active = [block for block in blocks if not block.is_idle]
    owner = head.pool.owner
    return {
        "device": device,
        "address": head.address,
        "total_size": sum(block.size for block in blocks),
        "allocated_size": sum(block.size for block in blocks if block.is_allocated),
        "active_size": sum(block.size for block in active),
        "requested_size": sum(block.requested for block in active),
        "stream": head.stream,
        "segment_type": "small" if head.pool.is_small else "large",
        "segment_pool_id": DEFAULT_POOL if owner is None else owner.id,
        "is_expandable": head.span is not None,
        "frames": list(head.segment_frames or ()),
        "blocks": [
            {
                "address": block.address,
                "size": block.size,
                "requested_size": block.requested,
                "state": block.state,
                "frames": list(block.frames or ()),
            }
            for block in blocks
        ],
    }


def _run_from(head: Block) -> list[Block]:
    run = []
    block: Block | None = head
    while block is not None and block.is_mapped:
        run.append(block)
        block = block.next
    return run
