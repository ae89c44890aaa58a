"""Pieces that tests of the engine share: a device without torch, and work of a given length."""

from __future__ import annotations

from judge.devices.sim.cost import Engine, Work
from judge.devices.sim.machine import Machine
from judge.devices.sim.profile import load_profile
from judge.devices.sim.races.geometry import Access

LAUNCH_US = 2.0
"""Host time of each launch here."""


def make_machine() -> Machine:
    """Return a fresh device with the H200's constants."""
    return Machine(load_profile("h200"))


def make_work(duration_us: float, *, engine: Engine = "sm", occupancy: float = 1.0) -> Work:
    """Return work of a given length; its name tells it."""
    return Work(f"work of {duration_us:g}", duration_us, engine, occupancy, LAUNCH_US)


def make_access(low: int = 0x5000_0000_0000, size: int = 512) -> Access:
    """Return an access to every byte of a range."""
    return Access(low, low + size, None, 1)


def settle(machine: Machine) -> None:
    """Let all that is queued end."""
    machine.clock.settle(float("inf"))
