"""``torch.distributed``: process groups over NCCL connect real GPUs. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

REASON = "NCCL connects real GPUs, and one device is simulated; backend='gloo' runs on the host"


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Refuse process groups over NCCL; those of the host stay as they are."""
    if not torch.distributed.is_available():
        return
    from torch.distributed import distributed_c10d

    for module in (torch.distributed, distributed_c10d):
        patches.wrap(module, "init_process_group", _refuse_unless_named)
        patches.wrap(module, "new_group", _refuse_nccl)


def _refuse_unless_named(stock: Callable[..., Value]) -> Callable[..., Value]:
    """Refuse NCCL, and no backend at all: PyTorch takes NCCL for tensors of the device then."""

    def init_process_group(backend: Value = None, *args: Value, **kwargs: Value) -> Value:
        if backend is None or "nccl" in str(backend).lower():
            raise NotSimulated("torch.distributed.init_process_group", REASON)
        return stock(backend, *args, **kwargs)

    return init_process_group


def _refuse_nccl(stock: Callable[..., Value]) -> Callable[..., Value]:
    def new_group(*args: Value, **kwargs: Value) -> Value:
        if "nccl" in str(kwargs.get("backend") or args[2:3]).lower():
            raise NotSimulated("torch.distributed.new_group", REASON)
        return stock(*args, **kwargs)

    return new_group
