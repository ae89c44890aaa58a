"""``torch.save`` and ``torch.load``: their stock code runs over the storages of the device. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.membership import is_device_storage
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

PRIORITY = 5
"""Asked before torch's own entry for the host, whose storages ours look like."""


def _untyped(storage: Value) -> Value:
    return storage if isinstance(storage, torch.UntypedStorage) else storage._untyped_storage


def _find_tag(storage: Value) -> str | None:
    return "cuda:0" if is_device_storage(_untyped(storage)) else None


def _restore(storage: Value, location: str) -> Value:
    return _untyped(storage).to(device=location) if location.startswith("cuda") else None


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Let storages of the device be tagged ``cuda:0`` in files and come back there."""
    registry = torch.serialization._package_registry
    before = list(registry)
    torch.serialization.register_package(PRIORITY, _find_tag, _restore)
    patches.add_undo(lambda: registry.__setitem__(slice(None), before))
