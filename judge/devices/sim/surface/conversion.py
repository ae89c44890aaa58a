"""``Tensor.to`` and its relatives: across devices, with gradients that find their way back. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.surface.places import CPU, CUDA, read_device
from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches
    from judge.devices.sim.tensors.context import Context

Tensor = torch.Tensor
_to = torch._C.TensorBase.to
_type = torch._C.TensorBase.type


class Crossing:
    """A copy to the other side.

    Args:
        context: of the installation.
        is_upload: to the device.
        dtype: of the result; as it is if left out.
        is_async: the user's ``non_blocking``.
        memory_format: of the result.
    """

    __slots__ = ("_context", "dtype", "is_async", "is_upload", "memory_format")

    def __init__(
        self,
        context: Context,
        *,
        is_upload: bool,
        dtype: torch.dtype | None = None,
        is_async: bool = False,
        memory_format: torch.memory_format = torch.preserve_format,
    ) -> None:
        self._context = context
        self.is_upload = is_upload
        self.dtype = dtype
        self.is_async = is_async
        self.memory_format = memory_format

    def run(self, tensor: Tensor) -> Tensor:
        """Return the copy, joined to the graph of autograd where that is wanted.

        Raises:
            NotSimulated: the tensor is sparse or jagged.
        """
        if tensor.layout is not torch.strided:
            raise NotSimulated(self._context.call or "Tensor.to", "sparse and jagged tensors are not simulated")
        if tensor.requires_grad and torch.is_grad_enabled():
            return _Crossed.apply(tensor, self)  # type: ignore[no-any-return, no-untyped-call]
        context = self._context
        before = context.transfer
        context.transfer = "h2d" if self.is_upload else "d2h"
        try:
            return _to(
                tensor, dtype=self.dtype or tensor.dtype, non_blocking=self.is_async, copy=True,
                memory_format=self.memory_format,
            )  # fmt: skip
        finally:
            context.transfer = before

    def reverse(self, dtype: torch.dtype) -> Crossing:
        """Return the way back for gradients: blocking, into the dtype of what came."""
        return Crossing(self._context, is_upload=not self.is_upload, dtype=dtype)


class _Crossed(torch.autograd.Function):
    """The step of autograd: the engine takes both sides for the host's, so gradients are sent back here."""

    @staticmethod
    def forward(ctx: Value, tensor: Tensor, crossing: Crossing) -> Tensor:
        ctx.back = crossing.reverse(tensor.dtype)
        return crossing.run(tensor.detach())

    @staticmethod
    def backward(ctx: Value, *grads: Value) -> tuple[Tensor | None, None]:
        return None if grads[0] is None else ctx.back.run(grads[0]), None


def install(simulation: Simulation, patches: Patches) -> None:
    """Replace ``Tensor.to``, ``cuda``, ``cpu``, ``type`` and ``type_as``."""
    context = simulation.context

    def to(self: Tensor, *args: Value, **kwargs: Value) -> Tensor:
        device, dtype, is_async, is_copy, memory_format = _read_to(args, kwargs)
        is_here = is_device(self)
        is_wanted = is_here if device is None else device.type == "cuda"
        if device is not None and device.type not in ("cpu", "cuda"):
            return _to(self, device, dtype or self.dtype, is_async, is_copy, memory_format=memory_format)
        if is_wanted == is_here:
            return _to(self, dtype=dtype or self.dtype, copy=is_copy, memory_format=memory_format)
        crossing = Crossing(context, is_upload=is_wanted, dtype=dtype, is_async=is_async, memory_format=memory_format)
        with context.named("Tensor.to"):
            return crossing.run(self)

    def cuda(
        self: Tensor,
        device: Value = None,
        non_blocking: bool = False,
        memory_format: torch.memory_format = torch.preserve_format,
    ) -> Tensor:
        if device is not None and read_device(device, "Tensor.cuda").type != "cuda":
            raise RuntimeError(f"Invalid device, must be cuda device but got {device}")
        with context.named("Tensor.cuda"):
            return to(self, CUDA, non_blocking=non_blocking, memory_format=memory_format)

    def cpu(self: Tensor, memory_format: torch.memory_format = torch.preserve_format) -> Tensor:
        with context.named("Tensor.cpu"):
            return to(self, CPU, memory_format=memory_format)

    def type_as(self: Tensor, other: Tensor) -> Tensor:
        return to(self, other)

    def type_(self: Tensor, dtype: Value = None, non_blocking: bool = False, **kwargs: Value) -> Value:
        if dtype is None:
            name: str = _type(self)
            return name.replace("torch.", "torch.cuda.", 1) if is_device(self) else name
        if isinstance(dtype, torch.dtype):
            return to(self, dtype, non_blocking)
        name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
        wanted = _type(self, name.replace("torch.cuda.", "torch."), non_blocking, **kwargs)
        return to(wanted, CUDA if "cuda" in name else CPU, non_blocking=non_blocking)

    patches.set(Tensor, "to", to)
    patches.set(Tensor, "cuda", cuda)
    patches.set(Tensor, "cpu", cpu)
    patches.set(Tensor, "type_as", type_as)
    patches.set(Tensor, "type", type_)


def _read_to(
    args: Arguments, kwargs: Keywords
) -> tuple[torch.device | None, torch.dtype | None, bool, bool, torch.memory_format]:
    """Return device, dtype, ``non_blocking``, ``copy`` and memory format from any form of ``Tensor.to``."""
    rest = args
    if (rest and isinstance(rest[0], Tensor)) or "other" in kwargs:
        other = rest[0] if rest else kwargs["other"]
        device, dtype, rest = other.device, other.dtype, rest[1:]
    else:
        named, dtype = kwargs.get("device"), kwargs.get("dtype")
        if rest and (rest[0] is None or isinstance(rest[0], str | torch.device) or type(rest[0]) is int):
            named, rest = rest[0], rest[1:]
        if rest and (rest[0] is None or isinstance(rest[0], torch.dtype)):
            dtype, rest = rest[0], rest[1:]
        device = None if named is None else read_device(named, "Tensor.to")
    is_async = rest[0] if rest else kwargs.get("non_blocking", False)
    is_copy = rest[1] if len(rest) > 1 else kwargs.get("copy", False)
    return device, dtype, is_async, is_copy, kwargs.get("memory_format", torch.preserve_format)
