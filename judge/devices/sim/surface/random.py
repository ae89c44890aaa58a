"""``torch.Generator("cuda")``, and the device's default generator. (torch)"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from judge.devices.sim.surface.places import CPU, read_device
from judge.devices.sim.tensors.generators import DeviceGenerator
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

DEFAULT_SEED = 67280421310721
"""Source: ``default_rng_seed_val``, c10/core/GeneratorImpl.h, torch 2.13."""
_Stock = torch._C.Generator


def install(simulation: Simulation, patches: Patches) -> None:
    """Let ``torch.Generator("cuda")`` make generators of the device, and give the device a default one."""
    machine = simulation.machine
    default = DeviceGenerator(machine)
    default.manual_seed(DEFAULT_SEED)
    simulation.execution.default_generator = default
    patches.set(torch.cuda, "default_generators", ())
    patches.wrap(torch._C, "_cuda_init", lambda stock: partial(_initialise, stock, default))

    class _GeneratorType(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, _Stock)

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, _Stock)

    class Generator(metaclass=_GeneratorType):
        """Takes the place of ``torch.Generator``."""

        def __new__(cls, device: Value = CPU) -> Value:
            place = read_device(device, "torch.Generator")
            return DeviceGenerator(machine) if place.type == "cuda" else _Stock(device=place)

    Generator.__module__, Generator.__qualname__ = "torch", "Generator"
    patches.set(torch, "Generator", Generator)


def _initialise(stock: Callable[[], None], default: DeviceGenerator) -> None:
    """Initialise the device; there are no default generators before that."""
    stock()
    cuda: Any = torch.cuda
    cuda.default_generators = (default,)
