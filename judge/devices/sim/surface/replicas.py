"""``torch.nn.DataParallel`` and ``torch.cuda.comm`` on one device: nothing is spread. (torch)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

Tensor = torch.Tensor


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Provide what spreads and collects tensors."""
    patches.set(torch._C, "_scatter", _scatter)
    patches.set(torch._C, "_broadcast_coalesced", _broadcast_coalesced)
    patches.set(torch._C, "_gather", _gather)


def _check(devices: Sequence[int]) -> None:
    """Refuse a second device.

    Raises:
        NotSimulated: more than device 0 is named.
    """
    if any(int(device) != 0 for device in devices) or len(devices) != 1:
        raise NotSimulated(f"devices {list(devices)}", "one device is simulated, cuda:0")


def _scatter(tensor: Tensor, devices: Sequence[int], *_: Value) -> tuple[Tensor, ...]:
    _check(devices)
    return (tensor.to("cuda:0"),)


def _broadcast_coalesced(tensors: Sequence[Tensor], devices: Sequence[int], *_: Value) -> list[list[Tensor]]:
    _check(devices)
    return [list(tensors)]


def _gather(tensors: Sequence[Tensor], dim: int, *_: Value) -> Tensor:
    return torch.cat(list(tensors), dim)
