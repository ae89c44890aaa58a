"""``rms_norm`` as one kernel each way: PyTorch takes the fused op where its backend has one. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.norms import differentiate, normalise
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

_registry: Value = torch.library
KERNELS = {"_fused_rms_norm": normalise, "_fused_rms_norm_backward": differentiate}
"""What CUDA has kernels for and the host has none.

Source: aten/src/ATen/native/native_functions.yaml, torch 2.11 to 2.14.
"""


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Give the host these kernels, with its own numbers."""
    library: Value = _registry.Library("aten", "IMPL")
    for name, kernel in KERNELS.items():
        if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "CPU"):
            library.impl(name, kernel, "CPU")
    patches.add_undo(library._destroy)
