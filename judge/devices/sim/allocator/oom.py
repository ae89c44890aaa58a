"""Running out of memory: the error and its text."""

from __future__ import annotations

from dataclasses import dataclass

from judge.devices.sim.allocator.sizes import KIB, MIB

GIB = 1024 * MIB
REQUEST_LIMIT_BYTES = 1 << 60

ADVICE = (
    "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to"
    " avoid fragmentation.  See documentation for Memory Management "
    " (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
)


class OutOfMemory(RuntimeError):
    """The device has no memory for a request, also after everything unused was given back.

    Stands for ``torch.OutOfMemoryError``, which this package can't name without importing torch.
    """


@dataclass(frozen=True)
class Shortage:
    """The figures of the text; all sizes are bytes.

    Args:
        device: index of the device.
        wanted: size of the segment that could not be had, not of the request.
        total: memory of the device.
        free: memory of the device that nothing uses.
        used: memory of the device that this process uses.
        allowed: the limit set by a memory fraction, if there is one.
        allocated: in blocks that are handed out.
        reserved: in all segments.
        free_in_private_pools: in free blocks of private pools; PyTorch counts them as allocated here.
    """

    device: int
    wanted: int
    total: int
    free: int
    used: int
    allowed: int | None
    allocated: int
    reserved: int
    free_in_private_pools: int

    def explain(self) -> str:
        """Return PyTorch's text.

        Source: ``malloc`` in c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
        """
        allocated = self.allocated + self.free_in_private_pools
        allowed = "" if self.allowed is None else f"{format_size(self.allowed)} allowed; "
        private = (
            f"with {format_size(self.free_in_private_pools)} allocated in private pools (e.g., CUDA Graphs), "
            if self.free_in_private_pools
            else ""
        )
        return (
            f"CUDA out of memory. Tried to allocate {format_size(self.wanted)}. "
            f"GPU {self.device} has a total capacity of {format_size(self.total)} "
            f"of which {format_size(self.free)} is free. "
            f"Including non-PyTorch memory, this process has {format_size(self.used)} memory in use. {allowed}"
            f"Of the allocated memory {format_size(allocated)} is allocated by PyTorch, {private}"
            f"and {format_size(self.reserved - allocated)} is reserved by PyTorch but unallocated. {ADVICE}"
        )


def format_size(size_bytes: int) -> str:
    """Return a size as PyTorch writes it: two decimals, in the largest unit that it exceeds.

    Source: ``format_size`` in c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
    """
    if size_bytes <= KIB:
        return f"{size_bytes} bytes"
    for name, unit in (("KiB", KIB), ("MiB", MIB)):
        if size_bytes <= unit * 1024:
            return f"{size_bytes / unit:.2f} {name}"
    return f"{size_bytes / GIB:.2f} GiB"
