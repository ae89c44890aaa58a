"""Printing a tensor: torch formats it with ops on the device, each of which the host waits for. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import _tensor_str

from judge.devices.sim.tensors.membership import is_device, is_pinned
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches


def install(simulation: Simulation, patches: Patches) -> None:
    """Let ``repr`` of a tensor of the device, or of pinned memory, pass through dispatch: torch turns modes off."""
    text: Value = _tensor_str
    stock, context = text._str, simulation.context

    def describe(self: torch.Tensor, *, tensor_contents: Value = None) -> str:
        if not (is_device(self) or is_pinned(self)):
            plain: str = stock(self, tensor_contents=tensor_contents)
            return plain
        with torch.no_grad(), context.named("repr(Tensor)"):
            guard = torch._C._DisableFuncTorch()
            described: str = text._str_intern(self, tensor_contents=tensor_contents)
            del guard
            return described

    patches.set(_tensor_str, "_str", describe)
