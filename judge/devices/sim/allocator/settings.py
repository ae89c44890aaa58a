"""The allocator's settings, as PyTorch's configuration string sets them."""

from __future__ import annotations

from dataclasses import dataclass

from judge.devices.sim.allocator.sizes import DIVISION_INTERVALS, MIB

UNLIMITED = 2**64 - 1
"""The largest ``size_t``: no block is too large to be split."""

LARGE_SEGMENT_BYTES = 20 * MIB


@dataclass(frozen=True)
class Settings:
    """What ``PYTORCH_CUDA_ALLOC_CONF`` says; the defaults are PyTorch's.

    Args:
        text: the configuration string that these settings were read from.
        large_segment_bytes: size of segments for blocks above 1 MiB and below 10 MiB.
        max_split_bytes: blocks of this size and above are never split.
        max_non_split_rounding_bytes: how far above the request an unsplittable block must stay.
        roundup_divisions: steps between powers of two, for each of 16 intervals; 0 is off.
        collection_threshold: share of the memory limit above which unused segments are given back; 0 is off.
        memory_fraction: share of the device's memory that may be reserved; 1 is no limit.
        is_expandable: segments grow in one range of addresses for each pool and stream.
        releases_lock: kept for the snapshot; a simulated driver call blocks nobody.
        pinned_register_threads: belongs to the allocator of pinned host memory.
        pinned_uses_host_register: belongs to the allocator of pinned host memory.
        pinned_max_round_bytes: belongs to the allocator of pinned host memory.
        pinned_max_cached_bytes: belongs to the allocator of pinned host memory.

    Source: c10/core/AllocatorConfig.h and c10/cuda/CUDAAllocatorConfig.h, torch 2.13.
    """

    text: str = ""
    large_segment_bytes: int = LARGE_SEGMENT_BYTES
    max_split_bytes: int = UNLIMITED
    max_non_split_rounding_bytes: int = LARGE_SEGMENT_BYTES
    roundup_divisions: tuple[int, ...] = (0,) * DIVISION_INTERVALS
    collection_threshold: float = 0.0
    memory_fraction: float = 1.0
    is_expandable: bool = False
    releases_lock: bool = False
    pinned_register_threads: int = 1
    pinned_uses_host_register: bool = False
    pinned_max_round_bytes: int = UNLIMITED
    pinned_max_cached_bytes: int = UNLIMITED

    @property
    def has_split_limit(self) -> bool:
        """Whether ``max_split_size_mb`` was given."""
        return self.max_split_bytes != UNLIMITED

    def as_snapshot(self) -> dict[str, object]:
        """Return the entry ``allocator_settings`` of a memory snapshot; sizes in bytes, -1 is unlimited.

        Source: torch/csrc/cuda/memory_snapshot.cpp, torch 2.13.
        """
        return {
            "PYTORCH_CUDA_ALLOC_CONF": self.text,
            "max_split_size": _signed(self.max_split_bytes),
            "garbage_collection_threshold": self.collection_threshold,
            "expandable_segments": self.is_expandable,
            "pinned_num_register_threads": self.pinned_register_threads,
            "release_lock_on_cudamalloc": self.releases_lock,
            "pinned_use_cuda_host_register": self.pinned_uses_host_register,
            "graph_capture_record_stream_reuse": False,
            "max_round_threshold": _signed(self.pinned_max_round_bytes),
            "max_cached_size": _signed(self.pinned_max_cached_bytes),
            "roundup_power2_divisions": {str(1 << at): steps for at, steps in enumerate(self.roundup_divisions)},
        }


def _signed(size_bytes: int) -> int:
    return -1 if size_bytes == UNLIMITED else size_bytes
