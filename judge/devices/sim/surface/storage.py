"""Storages of the device: where they say they are, and their copies. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.storages import new_tensor
from judge.devices.sim.surface.places import CPU, CUDA, read_device
from judge.devices.sim.tensors.membership import is_device_storage
from judge.devices.sim.tensors.raw import Layout
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

Storage = torch.UntypedStorage
_stock: Value = Storage
_base: Value = torch._C.StorageBase
_stock_device = _base.device.__get__
_copy = torch.ops.aten.copy_.default


def install(simulation: Simulation, patches: Patches) -> None:
    """Let storages in device memory answer as CUDA storages do."""
    machine, context = simulation.machine, simulation.context
    stock_clone, stock_to, stock_pinned = _stock.clone, _stock.to, _stock.is_pinned
    stock_write = _stock._write_file

    def get_device(self: Storage) -> torch.device:
        return CUDA if is_device_storage(self) else _stock_device(self)

    def make_on_device(size_bytes: int) -> torch.Tensor:
        with torch._C._DisableTorchDispatch():
            return new_tensor(machine, (size_bytes,), (1,), torch.uint8)

    def clone(self: Storage) -> Storage:
        if not is_device_storage(self):
            cloned: Storage = stock_clone(self)
            return cloned
        copied = make_on_device(self.nbytes())
        _copy(copied, _as_tensor(self))
        return copied.untyped_storage()

    def to(self: Storage, *, device: Value, non_blocking: bool = False) -> Storage:
        place = read_device(device, "UntypedStorage.to")
        is_here = is_device_storage(self)
        if place.type not in ("cpu", "cuda"):
            moved: Storage = stock_to(self, device=place, non_blocking=non_blocking)
            return moved
        if (place.type == "cuda") == is_here:
            return self
        with context.named("UntypedStorage.to"):
            target = (
                torch.empty(self.nbytes(), dtype=torch.uint8, device=CPU, pin_memory=non_blocking)
                if is_here
                else make_on_device(self.nbytes())
            )
            _copy(target, _as_tensor(self), non_blocking)
        return target.untyped_storage()

    def cpu(self: Storage) -> Storage:
        return to(self, device=CPU)

    def cuda(self: Storage, device: Value = None, non_blocking: bool = False) -> Storage:
        return to(self, device=CUDA if device is None else device, non_blocking=non_blocking)

    def write_file(self: Storage, *args: Value) -> Value:
        return stock_write(cpu(self), *args)

    def is_pinned(self: Storage, device: Value = "cuda") -> bool:
        return self.data_ptr() in machine.pinned.arena or bool(stock_pinned(self, device))

    patches.set(Storage, "device", property(get_device))
    patches.set(Storage, "is_cuda", property(is_device_storage))
    patches.set(Storage, "clone", clone)
    patches.set(Storage, "to", to)
    patches.set(Storage, "cpu", cpu)
    patches.set(Storage, "cuda", cuda)
    patches.set(Storage, "_write_file", write_file)
    patches.set(Storage, "is_pinned", is_pinned)


def _as_tensor(storage: Storage) -> torch.Tensor:
    """Return the bytes of a storage as a tensor that does not own them."""
    size_bytes = storage.nbytes()
    return Layout(storage.data_ptr(), (size_bytes,), (1,), torch.uint8, size_bytes).view()
