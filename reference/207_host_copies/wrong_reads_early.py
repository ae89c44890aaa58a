"""`read()` doesn't wait: `.to("cpu", non_blocking=True)` lands in pinned memory, later.

Caught by: test_2_ownership.py::test_a_device_source_is_the_callers_at_once[as_it_is]
"""

from __future__ import annotations

import torch
from torch import Tensor


def upload(source: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a contiguous tensor on the device with the source's shape and values. *Synchronises: never.*

    Args:
        source: on the host, of any shape, dtype and strides; pinned or pageable.
        dtype: of the result.
    """
    if source.is_pinned() and is_dense(source):
        staged = source
    else:
        # The host has to touch these bytes anyway, so it narrows them on the way. Strides stay as they are, as far as
        # the memory has no gaps: to walk across the rows is what a CPU is worst at.
        staged = torch.empty_like(source, dtype=find_narrower(source.dtype, dtype), pin_memory=True).copy_(source)
    there = staged.to("cuda", non_blocking=True)  # the same strides: one run of bytes, and no temporary
    return there.to(dtype).contiguous()


class Download:
    """A tensor on its way to the host.

    Args:
        pinned: where the copy goes.
        landed: recorded behind it.
        dtype: of the result.
    """

    def __init__(self, pinned: Tensor, landed: torch.cuda.Event, dtype: torch.dtype) -> None:
        self._pinned = pinned
        self._landed = landed
        self._dtype = dtype
        self._result: Tensor | None = None

    def read(self) -> Tensor:
        """Return the tensor, the caller's to keep. *Synchronises: once, at the first call, for this tensor only.*"""
        if self._result is None:
            self._result = self._pinned.to(self._dtype)
        return self._result


def download(source: Tensor, dtype: torch.dtype) -> Download:
    """Queue the copy of a tensor to the host, on the current stream. *Synchronises: never.*

    Args:
        source: on the device, of any shape, dtype and strides.
        dtype: of the result.
    """
    sent = source.to(find_narrower(source.dtype, dtype)).contiguous()
    pinned = torch.empty(sent.shape, dtype=sent.dtype, pin_memory=True).copy_(sent, non_blocking=True)
    return Download(pinned, torch.cuda.current_stream().record_event(), dtype)


def find_narrower(first: torch.dtype, second: torch.dtype) -> torch.dtype:
    """Return the dtype of fewer bytes, the first of two equals."""
    return second if second.itemsize < first.itemsize else first


def is_dense(tensor: Tensor) -> bool:
    """Return whether the elements fill one run of memory, without gaps and overlaps, in whatever order."""
    length = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size > 1:
            if stride != length:
                return False
            length *= size
    return True
