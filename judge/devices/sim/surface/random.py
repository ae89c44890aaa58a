"""Generators of the device, and the default one. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from judge.devices.sim.surface.places import CPU, CUDA, read_device

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.machine import Machine
    from judge.devices.sim.patches import Patches

DEFAULT_SEED = 67280421310721
"""Source: ``default_rng_seed_val``, c10/core/GeneratorImpl.h, torch 2.13."""
_Stock = torch._C.Generator


class DeviceGenerator(_Stock):
    """A generator of the device. Its numbers are those of the host's algorithm, not CUDA's Philox.

    Args:
        machine: the device, whose captures forbid some seeds.
    """

    _machine: Machine

    def __new__(cls, machine: Machine) -> DeviceGenerator:  # noqa: D102  # the class tells
        generator = _Stock.__new__(cls, device="cpu")
        generator._machine = machine
        return generator

    def __init__(self, machine: Machine) -> None:
        """Be made by ``__new__``."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # a plain attribute in torch's stub
        """``cuda:0``."""
        return CUDA

    def manual_seed(self, seed: int) -> DeviceGenerator:
        """Start over from a seed."""
        self._check(seed)
        super().manual_seed(seed)
        return self

    def seed(self) -> int:
        """Start over from a seed of chance, and return it."""
        if self._machine.current.capture is not None:
            self._check(-1)
        return super().seed()

    def clone_state(self) -> DeviceGenerator:
        """Return another generator in the same state."""
        twin = DeviceGenerator(self._machine)
        twin.set_state(self.get_state())
        return twin

    def _check(self, seed: int) -> None:
        self._machine.randomness.check_seed(self._machine.current, self, seed)


def install(simulation: Simulation, patches: Patches) -> None:
    """Let ``torch.Generator("cuda")`` make generators of the device, and give the device a default one."""
    machine = simulation.machine
    default = DeviceGenerator(machine)
    default.manual_seed(DEFAULT_SEED)
    simulation.execution.default_generator = default
    patches.set(torch.cuda, "default_generators", (default,))

    class _GeneratorType(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, _Stock)

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, _Stock)

    class Generator(metaclass=_GeneratorType):
        """Takes the place of ``torch.Generator``."""

        def __new__(cls, device: Any = CPU) -> Any:
            place = read_device(device, "torch.Generator")
            return DeviceGenerator(machine) if place.type == "cuda" else _Stock(device=place)

    Generator.__module__, Generator.__qualname__ = "torch", "Generator"
    patches.set(torch, "Generator", Generator)
