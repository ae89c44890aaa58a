"""What a tensor says of itself, and how its values leave it without passing an op. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.surface.places import CUDA, read_device
from judge.devices.sim.surface.streams import engine_of
from judge.devices.sim.tensors.membership import is_device, is_pinned
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

Tensor = torch.Tensor
_base: Value = torch._C.TensorBase
_tensor: Value = Tensor
_stock_device = _base.device.__get__
_NUMPY_TEXT = (
    "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
)


def install(simulation: Simulation, patches: Patches) -> None:
    """Let tensors in device memory answer as CUDA tensors do."""
    _install_place(patches)
    _install_exits(simulation, patches)
    _install_memory(simulation, patches)


def _install_place(patches: Patches) -> None:
    def get_device(self: Tensor) -> torch.device:
        return CUDA if is_device(self) else _stock_device(self)

    def get_is_cpu(self: Tensor) -> bool:
        return not is_device(self) and _stock_device(self).type == "cpu"

    def get_index(self: Tensor) -> int:
        return 0 if is_device(self) else -1

    patches.set(Tensor, "device", property(get_device))
    patches.set(Tensor, "is_cuda", property(is_device))
    patches.set(Tensor, "is_cpu", property(get_is_cpu))
    patches.set(Tensor, "get_device", get_index)
    patches.wrap(torch, "get_device", lambda _: get_index)


def _install_exits(simulation: Simulation, patches: Patches) -> None:
    """Values that become Python numbers or arrays."""
    context, execution = simulation.context, simulation.execution
    stock_tolist, stock_numpy = _base.tolist, _base.numpy

    def tolist(self: Tensor) -> Value:
        if is_device(self):
            with context.named("Tensor.tolist"):
                self = self.detach().cpu()
        elif is_pinned(self):
            execution.note_host_access(self, "Tensor.tolist", is_write=False)
        return stock_tolist(self)

    def numpy(self: Tensor, *, force: bool = False) -> Value:
        if is_device(self):
            if not force:
                raise TypeError(_NUMPY_TEXT)
            with context.named("Tensor.numpy"):
                self = self.detach().cpu()
        elif is_pinned(self):
            execution.note_host_access(self, "Tensor.numpy", is_write=False)
        return stock_numpy(self, force=force)

    def get_interface(self: Tensor) -> NoReturn:
        if not is_device(self):
            raise AttributeError(
                f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()} "
                "If CUDA data is required use tensor.cuda() to copy tensor to device memory."
            )
        raise NotSimulated("Tensor.__cuda_array_interface__", "other libraries would read the address on a GPU")

    patches.set(Tensor, "tolist", tolist)
    patches.set(Tensor, "numpy", numpy)
    patches.set(Tensor, "__cuda_array_interface__", property(get_interface))
    for name, written in _NUMBERS.items():
        patches.set(Tensor, name, _name_call(simulation, getattr(_base, name), written))


_NUMBERS = {
    "__int__": "int(Tensor)",
    "__float__": "float(Tensor)",
    "__bool__": "bool(Tensor)",
    "__index__": "operator.index(Tensor)",
    "__complex__": "complex(Tensor)",
}
"""Conversions to numbers, and how the ledger calls them."""


def _name_call(simulation: Simulation, stock: Callable[[Tensor], Any], written: str) -> Callable[[Tensor], Any]:
    context = simulation.context

    def convert(self: Tensor) -> Value:
        if not is_device(self):
            return stock(self)
        with context.named(written):
            return stock(self)

    return convert


def _install_memory(simulation: Simulation, patches: Patches) -> None:
    execution, machine = simulation.execution, simulation.machine
    stock_share, stock_is_shared = _tensor.share_memory_, _tensor.is_shared

    def record_stream(self: Tensor, stream: Value) -> None:
        if not is_device(self):
            raise NotImplementedError("Could not run 'aten::record_stream' with arguments from the 'CPU' backend.")
        machine.memory.record_stream(execution.find_block(self), engine_of(stream).handle)

    def pin_memory(self: Tensor, device: Value = None) -> Tensor:  # noqa: ARG001  # torch's signature
        if is_pinned(self):
            return self
        if is_device(self):
            raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
        return torch.ops.aten._pin_memory.default(self)  # type: ignore[no-any-return]

    def new_tensor(self: Tensor, data: Value, **kwargs: Value) -> Tensor:
        device = kwargs.pop("device", None)
        place = self.device if device is None else read_device(device, "Tensor.new_tensor")
        dtype = kwargs.pop("dtype", None) or (data.dtype if isinstance(data, Tensor) else self.dtype)
        return torch.tensor(data, dtype=dtype, device=place, **kwargs)

    def is_pinned_(self: Tensor, device: Value = None) -> bool:  # noqa: ARG001  # torch's signature
        return is_pinned(self)

    def share_memory_(self: Tensor) -> Tensor:
        return self if is_device(self) else stock_share(self)

    def is_shared(self: Tensor) -> bool:
        return is_device(self) or stock_is_shared(self)

    patches.set(Tensor, "record_stream", record_stream)
    patches.set(Tensor, "pin_memory", pin_memory)
    patches.set(Tensor, "is_pinned", is_pinned_)
    patches.set(Tensor, "new_tensor", new_tensor)
    patches.set(Tensor, "share_memory_", share_memory_)
    patches.set(Tensor, "is_shared", is_shared)
