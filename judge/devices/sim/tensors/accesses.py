"""Which bytes an op touches through a tensor. (torch)"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from judge.devices.sim.races.geometry import Access

_base: Any = torch._C.TensorBase
_data_ptr = _base.data_ptr
_is_contiguous = _base.is_contiguous
_new = tuple.__new__

_KINDS = {
    dtype: (dtype.itemsize, str(dtype).removeprefix("torch."))
    for dtype in vars(torch).values()
    if isinstance(dtype, torch.dtype)
}
"""Bytes of an element and name, by type."""


def access_of(tensor: torch.Tensor) -> Access | None:
    """Return the bytes of a tensor as a strided range, or ``None`` for one without elements.

    A tensor whose elements fill their range without a gap, in whatever order, is the whole range. Dimensions that add
    no byte (of size 1, or expanded) are left out.
    """
    size_bytes = tensor.nbytes
    if not size_bytes:
        return None
    if _is_contiguous(tensor):
        return range_of(_data_ptr(tensor), size_bytes, tensor.dtype)
    return _describe_strided(tensor)


def range_of(address: int, size_bytes: int, dtype: torch.dtype) -> Access:
    """Return the bytes of a tensor whose elements fill them from an address on."""
    item_bytes, name = _KINDS[dtype]
    return _new(Access, (address, address + size_bytes, None, item_bytes, name, False))  # in half the time of Access()


def find_accesses(tensors: Iterable[torch.Tensor]) -> list[Access]:
    """Return the bytes of each tensor that has any."""
    accesses = []
    for tensor in tensors:
        size_bytes = tensor.nbytes
        if not size_bytes:
            continue
        if _is_contiguous(tensor):  # access_of and range_of, without their calls
            low = _data_ptr(tensor)
            item_bytes, name = _KINDS[tensor.dtype]
            accesses.append(_new(Access, (low, low + size_bytes, None, item_bytes, name, False)))
        else:
            accesses.append(_describe_strided(tensor))
    return accesses


def _describe_strided(tensor: torch.Tensor) -> Access:
    low = _data_ptr(tensor)
    item_bytes, name = _KINDS[tensor.dtype]
    span = item_bytes
    distinct = 1
    strides = []
    for size, stride in zip(tensor.size(), tensor.stride(), strict=True):
        if size > 1 and stride:
            span += (size - 1) * stride * item_bytes
            distinct *= size
            strides.append((size, stride * item_bytes))
    if span <= distinct * item_bytes:
        return Access(low, low + span, None, item_bytes, name)
    return Access(low, low + span, tuple(strides), item_bytes, name)
