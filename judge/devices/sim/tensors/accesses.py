"""Which bytes an op touches through a tensor. (torch)"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from judge.devices.sim.races.geometry import Access

_base: Any = torch._C.TensorBase
_data_ptr = _base.data_ptr
_element_size = _base.element_size
_numel = _base.numel
_is_contiguous = _base.is_contiguous
_dtype = _base.dtype.__get__

_DTYPE_NAMES = {
    dtype: str(dtype).removeprefix("torch.") for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)
}


def access_of(tensor: torch.Tensor) -> Access | None:
    """Return the bytes of a tensor as a strided range, or ``None`` for one without elements.

    A tensor whose elements fill their range without a gap, in whatever order, is the whole range. Dimensions that add
    no byte (of size 1, or expanded) are left out.
    """
    count = _numel(tensor)
    if not count:
        return None
    low = _data_ptr(tensor)
    item_bytes = _element_size(tensor)
    if _is_contiguous(tensor):
        return Access(low, low + count * item_bytes, None, item_bytes, _DTYPE_NAMES[_dtype(tensor)])
    return _describe_strided(tensor, low, item_bytes)


def find_accesses(tensors: Iterable[torch.Tensor]) -> list[Access]:
    """Return the bytes of each tensor that has any."""
    return [access for tensor in tensors if (access := access_of(tensor)) is not None]


def _describe_strided(tensor: torch.Tensor, low: int, item_bytes: int) -> Access:
    name = _DTYPE_NAMES[_dtype(tensor)]
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
