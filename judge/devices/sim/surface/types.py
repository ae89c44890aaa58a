"""``torch.cuda.FloatTensor`` and its likes: the old names of types, to ask for and to make tensors with. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from judge.devices.sim.surface.places import CUDA
from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

Tensor = torch.Tensor
NAMES = {
    "FloatTensor": torch.float32, "DoubleTensor": torch.float64, "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16, "ByteTensor": torch.uint8, "CharTensor": torch.int8, "ShortTensor": torch.int16,
    "IntTensor": torch.int32, "LongTensor": torch.int64, "BoolTensor": torch.bool,
}  # fmt: skip
"""Those that PyTorch has in ``torch`` and in ``torch.cuda``, with their types of elements."""


class TensorType(type):
    """The type of such a name: what it is asked about, and what a call makes.

    Source: torch/csrc/tensor/python_tensor.cpp and ``legacy_tensor_ctor``, torch 2.13.
    """

    stock: Any
    dtype: torch.dtype
    is_cuda: bool

    def __instancecheck__(cls, value: object) -> bool:
        """Return whether a value is a tensor of this type, on this side."""
        return isinstance(value, Tensor) and value.dtype is cls.dtype and is_device(value) == cls.is_cuda

    def __subclasscheck__(cls, kind: type) -> bool:
        """Return whether a class is this one."""
        return cls is kind or cls.stock is kind

    def __call__(cls, *args: Value, device: Value = None, **kwargs: Value) -> Tensor:
        """Return a tensor of these sizes, of this data, or without elements."""
        if not cls.is_cuda:
            made: Tensor = cls.stock(*args, **kwargs)
            return made
        if device is not None and torch.device(device).type != "cuda":
            raise RuntimeError("legacy constructor expects device type: cuda but device type: cpu was passed")
        return _make_tensor(cls.dtype, f"{cls.__module__}.{cls.__name__}", args)


def _make_tensor(dtype: torch.dtype, kind: str, args: tuple[Value, ...]) -> Tensor:
    """Return a tensor of the device as the old constructors do: of these sizes, of this data, or without elements."""
    data = args[0] if len(args) == 1 else None
    if isinstance(data, Tensor):
        if data.type() != kind:
            raise TypeError(f"expected {kind} (got {data.type()})")
        return data.detach()
    if data is not None and not isinstance(data, torch.Size | int):
        return torch.tensor(data, dtype=dtype, device=CUDA)
    return torch.empty(*(args or (0,)), dtype=dtype, device=CUDA)


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Put these names in place; tensors of the device are none of the host's any more."""
    for name, dtype in NAMES.items():
        for owner, is_cuda in ((torch, False), (torch.cuda, True)):
            stock = getattr(owner, name, None)
            if stock is None:
                continue
            facts = {"__module__": owner.__name__, "dtype": dtype, "layout": torch.strided, "is_sparse": False}
            made: Value = TensorType(name, (), {**facts, "is_cuda": is_cuda, "stock": stock, "__doc__": stock.__doc__})
            patches.set(owner, name, made)
    patches.wrap(torch, "set_default_tensor_type", _make_default)
    stock_new: Value = Tensor.new

    def new(self: Tensor, *args: Value, **kwargs: Value) -> Tensor:
        if not is_device(self) or kwargs:
            result: Tensor = stock_new(self, *args, **kwargs)
            return result
        return _make_tensor(self.dtype, self.type(), args)

    patches.set(Tensor, "new", new)


def _make_default(stock: Callable[[Any], None]) -> Callable[[Any], None]:
    """Take the old names, as classes or written out."""

    def set_default_tensor_type(kind: Any) -> None:  # noqa: ANN401  # a class or its name
        name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
        if name.startswith("torch.cuda."):
            torch.set_default_dtype(NAMES[name.rpartition(".")[2]])
            torch.set_default_device(CUDA)
        else:
            stock(kind.stock if isinstance(kind, TensorType) else kind)

    return set_default_tensor_type
