"""Devices as users write them: ``"cuda"``, ``0``, ``torch.device("cuda:0")``. (torch)"""

from __future__ import annotations

import torch
from torch import overrides
from torch.utils._device import DeviceContext

from judge.devices.sim.surface.streams import check_index
from judge.devices.sim.tensors.values import Value

CUDA = torch.device("cuda", 0)
CPU = torch.device("cpu")
_NAMES = {"cuda": CUDA, "cuda:0": CUDA, "cpu": CPU}
"""What nearly everybody writes, read in no time."""
_overrides: Value = overrides


def read_device(value: Value, call: str) -> torch.device:
    """Return the device that a user means; ``cuda`` without a number is ``cuda:0``.

    Args:
        value: a device, its name or its index.
        call: what the user called, for the error.

    Raises:
        NotSimulated: another CUDA device than the first.
    """
    if type(value) is str and value in _NAMES:
        return _NAMES[value]
    if isinstance(value, int):
        check_index(value, call)
        return CUDA
    device = value if isinstance(value, torch.device) else torch.device(value)
    if device.type != "cuda":
        return device
    check_index(device.index or 0, call)
    return CUDA


def find_default_device() -> torch.device:
    """Return the device for factories: that of the innermost ``with torch.device(...)``, else the default device."""
    for mode in reversed(
        _overrides._get_current_function_mode_stack()
    ):  # torch.get_default_device would come back to us
        if isinstance(mode, DeviceContext):
            return read_device(mode.device, "torch.device")
    return CPU
