"""``torch.profiler``: it records a GPU's kernels through CUPTI, and there is none. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

REASON = "CUPTI traces the kernels of a GPU; `inspect --trace` shows the simulated ones"


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Refuse profiles of the device, and leave those of the host as they are."""

    def make(stock: Callable[..., None]) -> Callable[..., None]:
        def start(self: Value, *args: Value, **kwargs: Value) -> None:
            stock(self, *args, **kwargs)
            if self.use_device == "cuda":
                raise NotSimulated("torch.profiler with CUDA activities", REASON)

        return start

    patches.wrap(torch.autograd.profiler.profile, "__init__", make)
