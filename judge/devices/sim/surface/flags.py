"""Switches of ``torch.backends`` that exist where there is a CUDA device (torch)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.backends.cuda
import torch.backends.cudnn

from judge.devices.sim.patches import Patches

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation

CUDNN_VERSION = 91900
"""What the H200 of the golden data had."""
PLAN_LIMIT = 4096
"""Plans that the cuFFT cache holds, unless told otherwise."""


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Answer for libraries that a CUDA build brings, without letting PyTorch call them.

    The switches themselves (``matmul.allow_tf32``, ``cudnn.benchmark``, ``flash_sdp_enabled``…) are kept by PyTorch
    in every build.
    """
    cudnn: Any = torch.backends.cudnn
    patches.set(cudnn, "version", lambda: CUDNN_VERSION)
    patches.set(cudnn, "is_available", lambda: True)
    patches.set(cudnn, "is_acceptable", lambda tensor: False)  # noqa: ARG005  # its kernels are not there
    limits = {"max_size": PLAN_LIMIT}
    plans: Any = vars(torch.backends.cuda.cuFFTPlanCache)
    patches.set(plans["size"], "getter", lambda index: 0)  # noqa: ARG005  # nothing is planned
    patches.set(plans["max_size"], "getter", lambda index: limits["max_size"])  # noqa: ARG005  # one device
    patches.set(plans["max_size"], "setter", lambda index, size: limits.update(max_size=size))  # noqa: ARG005  # one device
    patches.set(torch, "_cufft_clear_plan_cache", lambda index: None)  # noqa: ARG005  # nothing is planned
