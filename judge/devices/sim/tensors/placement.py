"""Tensors that a CPU kernel made, moved to where they belong. (torch)"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from judge.devices.sim.races.geometry import Access
from judge.devices.sim.storages import count_bytes, new_pinned, new_tensor, shape, take
from judge.devices.sim.tensors.accesses import access_of, range_of
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine
    from judge.devices.sim.sites import Site
    from judge.devices.sim.streams import Stream

Tensor = torch.Tensor
_aten = torch.ops.aten
_copy = _aten.copy_.default
_data_ptr = torch._C.TensorBase.data_ptr
_is_contiguous = torch._C.TensorBase.is_contiguous
_copy_bytes = ctypes.memmove


def place(
    machine: Machine, tensor: Tensor, site: Site | None = None, stream: Stream | None = None
) -> tuple[Tensor, Access | None]:
    """Return a copy of a host tensor in a fresh block, and its bytes.

    Args:
        machine: the device.
        tensor: any strides; the copy has the same.
        site: the user's line; found if left out.
        stream: the block's; the current one if left out.

    Raises:
        torch.OutOfMemoryError: the device has no memory for it.
    """
    dtype, size, stride = tensor.dtype, tensor.size(), tensor.stride()
    is_contiguous = _is_contiguous(tensor)
    size_bytes = tensor.nbytes if is_contiguous else count_bytes(size, stride, dtype.itemsize)
    if not size_bytes:
        return new_tensor(machine, size, stride, dtype), None
    if stream is None:
        stream = machine.current
    address, piece = take(machine.memory, size_bytes, stream.handle, site)
    target = shape(piece, size, stride, dtype)
    access = range_of(address, size_bytes, dtype) if is_contiguous else access_of(target)
    if access is not None:
        machine.preserve((access,), stream)
    if dtype.is_complex and not tensor._is_zerotensor():  # a conjugate view is resolved on the way
        _copy(target, tensor)
    elif source := _data_ptr(tensor):
        _copy_bytes(address, source, size_bytes)
    else:  # autograd's zeros without memory
        ctypes.memset(address, 0, size_bytes)
    return target, access


def place_nested(machine: Machine, tensor: Tensor) -> tuple[Tensor, Access | None]:
    """Return a copy of a nested tensor of the host with its buffer on the device, and the buffer's bytes."""
    buffer, access = place(machine, _aten.values.default(tensor))
    parts = tensor._nested_tensor_size(), tensor._nested_tensor_strides(), tensor._nested_tensor_storage_offsets()
    return _aten._nested_view_from_buffer.default(buffer, *parts), access


def place_pinned(machine: Machine, tensor: Tensor) -> Tensor:
    """Return a contiguous copy of a host tensor in pinned memory."""
    return _copy(new_pinned(machine, tensor.size(), contiguous_strides(tensor.size()), tensor.dtype), tensor)  # type: ignore[no-any-return]


def rerun(op: Value, args: Arguments, kwargs: Keywords, result: Value) -> None:
    """Run an op again, onto the tensors that hold its result."""
    with torch._C._DisableTorchDispatch():
        again = op(*args, **kwargs)
        for kept, made in zip(_as_list(result), _as_list(again), strict=False):
            if isinstance(kept, Tensor) and isinstance(made, Tensor) and _data_ptr(kept) != _data_ptr(made):
                _copy(kept, made)


def contiguous_strides(size: Sequence[int]) -> list[int]:
    """Return the strides of a contiguous tensor of a size."""
    strides = [1] * len(size)
    for index in range(len(size) - 2, -1, -1):
        strides[index] = strides[index + 1] * max(size[index + 1], 1)
    return strides


def _as_list(result: Value) -> list[Any]:
    return list(result) if isinstance(result, list | tuple) else [result]
