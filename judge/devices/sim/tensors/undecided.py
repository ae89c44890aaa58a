"""Tensors of which nobody knows yet whether they are the host's or the device's. (torch)

Inside PyTorch's own C++ code, ``at::zeros(size, self.options())`` makes a tensor where ``self`` is. Our tensors say
``cpu`` there, so such a factory arrives without a word about the device. Its tensor is kept in a range of addresses of
its own, the host's as far as anyone can see. The first op that takes it together with a tensor of the device decides:
from then on it and all its views are the device's, and the allocator holds a block for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from judge.devices.sim.allocator import OutOfMemory
from judge.devices.sim.arena import Arena
from judge.devices.sim.memory import DeviceMemory
from judge.devices.sim.storages import count_bytes

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine

BASE = 0x5C00_0000_0000
SPAN_BYTES = 1 << 40

_untyped_storage = torch._C.TensorBase.untyped_storage
_set = torch.ops.aten.set_.source_Storage_storage_offset
_empty = torch.ops.aten.empty.memory_format
_HOST = torch.device("cpu")


class _NoEvents:
    """No stream ever uses this memory."""

    def record(self, stream: int) -> object:
        """Return an event."""
        return stream

    def is_done(self, event: object) -> bool:  # noqa: ARG002  # part of the interface
        """Tell that an event is done."""
        return True

    def wait(self, event: object) -> None:
        """Wait for nothing."""


class _Entry:
    __slots__ = ("block", "is_device", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.is_device = False
        self.block = 0
        """Address of the block that the allocator counts for it, once it is the device's."""


class Undecided:
    """The range of addresses of such tensors, and what has been decided of each.

    Args:
        machine: whose allocator counts those that turn out to be the device's.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        arena = Arena(BASE, SPAN_BYTES)
        self._memory = DeviceMemory(arena, _NoEvents(), total_bytes=SPAN_BYTES // 2, watcher=self)
        self._entries: dict[int, _Entry] = {}
        self.range = (arena.base, arena.end)

    def new(self, size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Return a tensor that is not decided; call it with dispatch off."""
        size_bytes = max(count_bytes(size, stride, dtype.itemsize), 1)
        memory = self._memory
        address = memory.allocate(size_bytes)
        self._entries[address] = _Entry(size_bytes)
        piece = memory.arena.view(address, size_bytes)
        memory.lifetimes.watch(piece, address)
        storage = torch.frombuffer(piece, dtype=torch.uint8).untyped_storage()
        empty = _empty([0], dtype=dtype, device=_HOST)
        return _set(empty, storage, 0, size, stride)  # type: ignore[no-any-return]

    def is_device(self, tensor: torch.Tensor) -> bool:
        """Return whether a tensor of this range has been decided to be the device's."""
        return self.is_device_address(_untyped_storage(tensor).data_ptr())

    def is_device_address(self, address: int) -> bool:
        """Return the same for the first byte of a storage."""
        entry = self._entries.get(address)
        return entry is not None and entry.is_device

    def find_block(self, tensor: torch.Tensor) -> int:
        """Return the address of the allocator's block that stands for a decided tensor; 0 for others."""
        entry = self._entries.get(_untyped_storage(tensor).data_ptr())
        return entry.block if entry is not None else 0

    def decide(self, tensor: torch.Tensor) -> None:
        """Make a tensor, and whatever shares its storage, the device's.

        Raises:
            torch.OutOfMemoryError: the device has no memory for it.
        """
        entry = self._entries[_untyped_storage(tensor).data_ptr()]
        if entry.is_device:
            return
        try:
            entry.block = self._machine.memory.allocate(entry.size_bytes, self._machine.current.handle)
        except OutOfMemory as error:
            raise torch.OutOfMemoryError(str(error)) from None
        entry.is_device = True

    def begin(self, address: int, size: int, stream: int) -> None:
        """Do nothing when memory of the range gets an owner: :meth:`new` writes the entry."""

    def forget(self, address: int, size: int) -> None:
        """Do nothing when memory goes back to the driver."""

    def end(self, address: int, size: int, stream: int) -> None:  # noqa: ARG002  # part of the interface
        """Let the allocator have the block back that stood for a tensor."""
        entry = self._entries.pop(address, None)
        if entry is not None and entry.block:
            self._machine.memory.free(entry.block)

    def close(self) -> None:
        """Give the range back; tensors that are still alive keep their bytes."""
        self._memory.close()
