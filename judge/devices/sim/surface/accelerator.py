"""The device half of ``torch.accelerator`` (torch)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from judge.devices.sim.patches import Patches
from judge.devices.sim.surface.devices import exchange_device
from judge.devices.sim.surface.streams import check_index

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation

UNSUPPORTED = ("torch.bits8", "torch.bits16", "torch.bits1x8", "torch.bits2x4", "torch.bits4x2")


def install(simulation: Simulation, patches: Patches) -> None:
    """Make the simulated device the accelerator."""
    machine = simulation.machine

    def synchronize(index: int) -> None:
        check_index(index, "torch.accelerator.synchronize")
        machine.synchronize_device("torch.accelerator.synchronize")

    def get_accelerator(check: bool | None = None) -> torch.device:  # noqa: ARG001  # an argument of older versions
        return torch.device("cuda")

    def set_index(index: int) -> None:
        check_index(index, "torch.accelerator.set_device_index")

    functions: dict[str, Any] = {
        "_accelerator_getAccelerator": get_accelerator,
        "_get_accelerator": get_accelerator,
        "_accelerator_getDeviceIndex": lambda: 0,
        "_accelerator_setDeviceIndex": set_index,
        "_accelerator_exchangeDevice": exchange_device,
        "_accelerator_maybeExchangeDevice": exchange_device,
        "_accelerator_synchronizeDevice": synchronize,
        "_accelerator_hooks_device_count": lambda: 1,
        "_accelerator_hooks_get_current_device": lambda: 0,
        "_accelerator_hooks_set_current_device": set_index,
        "_accelerator_hooks_exchange_device": exchange_device,
        "_accelerator_hooks_maybe_exchange_device": exchange_device,
        "_accelerator_getDeviceCapability": _get_capability,
    }
    for name, function in functions.items():
        patches.set(torch._C, name, function)
    cached: Any = getattr(torch.accelerator, "get_device_capability", None)
    if hasattr(cached, "cache_clear"):
        cached.cache_clear()
        patches.add_undo(cached.cache_clear)


def _get_capability(index: int) -> dict[str, Any]:
    check_index(index, "torch.accelerator.get_device_capability")
    dtypes = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    return {"supported_dtypes": {dtype for dtype in dtypes if str(dtype) not in UNSUPPORTED}}
