"""Tensors on bytes that they don't own, and what is needed to make them. (torch)"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import torch

from judge.devices.sim.tensors.values import Value

_data_ptr = torch._C.TensorBase.data_ptr
_numel = torch._C.TensorBase.numel
_set = torch.ops.aten.set_.source_Storage_storage_offset
_empty = torch.ops.aten.empty.memory_format
_HOST = torch.device("cpu")


class Layout(NamedTuple):
    """A tensor without its memory: enough to look at the same bytes again later, whoever owns them then."""

    address: int
    """Of the first element; 0 for a tensor without elements."""
    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    span_bytes: int
    """From the first byte to after the last."""

    def view(self) -> torch.Tensor:
        """Return a tensor on these bytes. It keeps nothing alive; the caller answers for the memory being mapped."""
        with torch._C._DisableTorchDispatch():
            empty = _empty([0], dtype=self.dtype, device=_HOST)
            if not self.span_bytes:
                return torch.ops.aten.as_strided.default(empty, self.size, self.stride)  # type: ignore[no-any-return]
            memory = (ctypes.c_char * self.span_bytes).from_address(self.address)
            storage = torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()
            return _set(empty, storage, 0, self.size, self.stride)  # type: ignore[no-any-return]


def layout_of(tensor: torch.Tensor) -> Layout:
    """Return how a tensor lies in memory."""
    size = tuple(tensor.size())
    stride = tensor.stride()
    count = _numel(tensor)
    if not count:
        return Layout(0, size, stride, tensor.dtype, 0)
    items = 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    return Layout(_data_ptr(tensor), size, stride, tensor.dtype, items * tensor.element_size())


def restore(value: Value) -> Value:
    """Return a value with a tensor in place of every :class:`Layout` in it, lists and tuples looked into."""
    if type(value) is Layout:
        return value.view()
    if type(value) in (list, tuple):
        return type(value)(restore(part) for part in value)
    return value
