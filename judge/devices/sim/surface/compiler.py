"""``torch.compile``: what it makes is code for a real GPU. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Refuse ``torch.compile`` unless it is told to do nothing."""

    def make(stock: Callable[..., Any]) -> Callable[..., Any]:
        def compile_(model: Value = None, **kwargs: Value) -> Value:
            if kwargs.get("disable"):
                return stock(model, **kwargs)
            raise NotSimulated("torch.compile", "it generates Triton kernels, which only a GPU can run")

        return compile_

    patches.wrap(torch, "compile", make)
