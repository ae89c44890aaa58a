"""Places in torch's Python code that look at where tensors are before dispatch sees them. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # as everybody calls it

from judge.devices.sim.surface.places import CUDA
from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

Tensor = torch.Tensor


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Make these places take the way of CUDA."""
    patches.wrap(torch._C, "_group_tensors_by_device_and_dtype", _group_as_cuda)
    for owner in (F, torch._C._nn):
        patches.wrap(owner, "one_hot", _encode_without_check)
    patches.set(torch.nn.RNNBase, "flatten_parameters", lambda _: None)
    for owner in (torch, torch._VF):
        patches.wrap(owner, "dropout", _drop_in_one_kernel)
        patches.wrap(owner, "dropout_", _drop_in_place)


def _group_as_cuda(stock: Callable[..., Any]) -> Callable[..., Any]:
    """Optimizers ask for their parameters by device: tell them the right one."""

    def find_place(lists: Value, place: torch.device) -> torch.device:
        first = next((tensor for tensor in lists[0] if tensor is not None), None)
        return CUDA if first is not None and is_device(first) else place

    def group(*args: Value, **kwargs: Value) -> Value:
        groups = stock(*args, **kwargs)
        return {(find_place(value[0], place), dtype): value for (place, dtype), value in groups.items()}

    return group


def _encode_without_check(stock: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The CPU's ``one_hot`` looks at the smallest and largest class; CUDA's at the largest, if it must count them."""

    def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
        if not is_device(tensor):
            return stock(tensor, num_classes)
        count = int(tensor.max().item()) + 1 if num_classes == -1 else num_classes
        encoded = tensor.new_zeros((*tensor.shape, count))
        return encoded.scatter_(-1, tensor.unsqueeze(-1), 1)

    return one_hot


def _drop_in_one_kernel(stock: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """CUDA's dropout is one fused kernel, under autograd too.

    Source: ``is_fused_kernel_acceptable``, aten/src/ATen/native/Dropout.cpp, torch 2.13.
    """

    def dropout(input: Tensor, p: float, train: bool) -> Tensor:  # torch's name
        if train and 0.0 < p < 1.0 and input.numel() and is_device(input):
            return torch.native_dropout(input, p, train)[0]
        return stock(input, p, train)

    return dropout


def _drop_in_place(stock: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def dropout_(input: Tensor, p: float, train: bool) -> Tensor:  # torch's name
        if train and 0.0 < p < 1.0 and is_device(input):
            return input.mul_(torch.empty_like(input).bernoulli_(1.0 - p).div_(1.0 - p))
        return stock(input, p, train)

    return dropout_
