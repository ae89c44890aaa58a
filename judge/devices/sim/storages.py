"""Tensors whose storage lies in an arena (torch)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from judge.devices.sim.allocator import OutOfMemory
from judge.devices.sim.arena import Arena
from judge.devices.sim.memory import DeviceMemory
from judge.devices.sim.pinned import PinnedMemory
from judge.devices.sim.sites import Site

_CPU = torch.device("cpu")
_frombuffer = torch.frombuffer
_as_strided = torch._C.TensorBase.as_strided_


class HasHandle(Protocol):
    """A stream, as far as it matters here."""

    @property
    def handle(self) -> int:
        """What PyTorch shows as ``cuda_stream``; 0 is the default stream."""


class HasMemory(Protocol):
    """A machine, as far as it matters here."""

    @property
    def memory(self) -> DeviceMemory:
        """Of the device."""

    @property
    def pinned(self) -> PinnedMemory:
        """Of the host."""

    @property
    def current(self) -> HasHandle:
        """The stream that is current in this thread."""


def new_tensor(
    machine: HasMemory,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: torch.dtype,
    *,
    stream: HasHandle | None = None,
    site: Site | None = None,
    size_bytes: int | None = None,
) -> Tensor:
    """Return a tensor in device memory, holding what the last owner of its bytes left.

    The block is freed at the moment when the last tensor on its storage dies.

    Args:
        machine: whose memory.
        size: elements by dimension.
        stride: elements between neighbours, by dimension.
        dtype: of the elements.
        stream: whose order makes reuse safe; by default the current stream.
        site: the user's line; found if left out.
        size_bytes: from the first element to the last; counted if left out.

    Raises:
        torch.OutOfMemoryError: the device has no memory for it; PyTorch's text.

    Synchronises: only when the cache is flushed because memory ran out.
    """
    if size_bytes is None:
        size_bytes = count_bytes(size, stride, dtype.itemsize)
    memory = machine.memory
    if size_bytes == 0:
        return _new_empty(memory.arena, size, stride, dtype)
    handle = (machine.current if stream is None else stream).handle
    return shape(take(memory, size_bytes, handle, site)[1], size, stride, dtype)


def take(memory: DeviceMemory, size_bytes: int, handle: int, site: Site | None = None) -> tuple[int, memoryview]:
    """Return the address and the bytes of a new block, which is freed when the view of them dies.

    Args:
        memory: of the device.
        size_bytes: bytes asked for, at least one.
        handle: of the stream whose order makes reuse safe.
        site: the user's line; found if left out.

    Raises:
        torch.OutOfMemoryError: the device has no memory for it; PyTorch's text.
    """
    try:
        address = memory.allocate(size_bytes, handle, site)
    except OutOfMemory as error:
        raise torch.OutOfMemoryError(str(error)) from None
    piece = memory.arena.view(address, size_bytes)
    memory.lifetimes.watch(piece, address)
    return address, piece


def allocate(machine: HasMemory, size_bytes: int, stream: HasHandle, site: Site | None = None) -> int:
    """Return the address of a block of device memory that the caller must free.

    Args:
        machine: whose memory.
        size_bytes: bytes asked for.
        stream: whose order makes reuse safe.
        site: the user's line; found if left out.

    Raises:
        torch.OutOfMemoryError: the device has no memory for it; PyTorch's text.
    """
    try:
        return machine.memory.allocate(size_bytes, stream.handle, site)
    except OutOfMemory as error:
        raise torch.OutOfMemoryError(str(error)) from None


def new_pinned(machine: HasMemory, size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Return a tensor in pinned host memory, holding what the last owner of its bytes left."""
    size_bytes = count_bytes(size, stride, dtype.itemsize)
    pinned = machine.pinned
    if size_bytes == 0:
        return _new_empty(pinned.arena, size, stride, dtype)
    address = pinned.allocate(size_bytes)
    piece = pinned.arena.view(address, size_bytes)
    pinned.lifetimes.watch(piece, address)
    return shape(piece, size, stride, dtype)


def view_bytes(
    machine: HasMemory, address: int, size: Sequence[int], stride: Sequence[int], dtype: torch.dtype
) -> Tensor:
    """Return a tensor on bytes of an arena that it does not own: whoever gets them next shares them.

    Args:
        machine: whose memory.
        address: of the first element, anywhere in device memory or pinned memory.
        size: elements by dimension.
        stride: elements between neighbours, by dimension.
        dtype: of the elements.
    """
    arena = machine.memory.arena
    if address not in arena:
        arena = machine.pinned.arena
    size_bytes = count_bytes(size, stride, dtype.itemsize)
    if size_bytes == 0:
        return _new_empty(arena, size, stride, dtype)
    return shape(arena.view(address, size_bytes), size, stride, dtype)


def count_bytes(size: Sequence[int], stride: Sequence[int], item_bytes: int) -> int:
    """Return the bytes from a tensor's first element to its last; 0 if it has none."""
    last = 0
    for length, step in zip(size, stride, strict=True):
        if length == 0:
            return 0
        last += (length - 1) * step
    return (last + 1) * item_bytes


def shape(piece: memoryview, size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Return a tensor on bytes, which it keeps alive."""
    tensor = _frombuffer(piece, dtype=dtype)
    if len(size) == 1 and stride[0] == 1:
        return tensor
    return _as_strided(tensor, size, stride)  # as set_ with the storage would, for less


def _new_empty(arena: Arena, size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Return a tensor without elements whose storage points into an arena, so that it is known as the arena's."""
    nothing = torch._C._construct_storage_from_data_pointer(arena.null_address, _CPU, 0)
    return torch.empty(0, dtype=dtype, device=_CPU).set_(nothing, 0, size, stride)
