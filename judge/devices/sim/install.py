"""Install the simulated device under torch, and take it away again. (torch)"""

from __future__ import annotations

import importlib
import os
from typing import Any, Self

import torch

from judge.devices.sim.allocator import parse_options
from judge.devices.sim.arena import PINNED_BASE, PINNED_SPAN_BYTES, Arena
from judge.devices.sim.graphs.randomness import Randomness
from judge.devices.sim.machine import AllocatorEvents, Machine
from judge.devices.sim.memory import DeviceMemory
from judge.devices.sim.patches import Patches
from judge.devices.sim.pinned import PinnedMemory
from judge.devices.sim.profile import load_profile
from judge.devices.sim.tensors.context import Context
from judge.devices.sim.tensors.dispatch import SimulationMode
from judge.devices.sim.tensors.execution import Execution
from judge.devices.sim.tensors.membership import Ranges
from judge.devices.sim.tensors.owners import Owners
from judge.devices.sim.tensors.undecided import Undecided

SURFACES = (
    "devices", "streams", "events", "accelerator", "flags", "memory", "random", "graphs", "tensor", "conversion",
    "factories", "storage", "serialization", "printing", "autograd", "autocast", "modules", "attention", "compiler",
    "threads",
)  # fmt: skip
"""What is put over torch, in this order; each module has ``install(simulation, patches)``."""


class Simulation:
    """The simulated device of a process, from its making until :meth:`close`.

    Args:
        profile: which device's constants to take: the name of a file in ``profiles``.

    Raises:
        RuntimeError: there is one already, or torch has used a real GPU in this process.
    """

    _present: Simulation | None = None

    def __init__(self, profile: str = "h200") -> None:
        if Simulation._present is not None:
            raise RuntimeError("the simulated device is installed already")
        if torch.cuda.is_initialized():
            raise RuntimeError("torch has used a real GPU in this process: the simulated device needs a fresh one")
        self.machine = Machine(load_profile(profile))
        """The device and its host, without torch."""
        self.patches = Patches()
        """What of torch is replaced."""
        self.context = Context()
        """What the surface knows of a call."""
        owners = Owners(self.machine)
        _add_memory(self.machine, owners)
        undecided = Undecided(self.machine)
        self.execution = Execution(self.machine, self.context, undecided)
        """Runs ops."""
        owners.uploads = self.execution.uploads
        self.mode = SimulationMode(self.execution)
        """Sees every op of the main thread; other threads enter it as they start."""
        self._undecided = undecided

    def open(self) -> None:
        """Put the device under torch."""
        Simulation._present = self
        memory, pinned = self.machine.memory.arena, self.machine.pinned.arena
        Ranges.open((memory.base, memory.end), (pinned.base, pinned.end), self._undecided)
        self.patches.add_undo(Ranges.close)
        try:
            for name in SURFACES:
                importlib.import_module(f"judge.devices.sim.surface.{name}").install(self, self.patches)
            self.mode.__enter__()
            self.patches.add_undo(lambda: self.mode.__exit__(None, None, None))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Take the device away; torch is as it was. Tensors that are still alive are the host's from now on."""
        if Simulation._present is not self:
            return
        self.machine.flushers.clear()
        try:
            self.patches.restore()
        finally:
            Simulation._present = None
            self._undecided.close()
            self.machine.memory.close()
            self.machine.pinned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def install(profile: str = "h200") -> Simulation:
    """Put a simulated device under torch: from now on, ``device="cuda"`` works in this process.

    Args:
        profile: which device's constants to take: the name of a file in ``profiles``.

    Returns:
        The installation; close it, or use it as a context manager, to have torch as it was.

    Raises:
        RuntimeError: a simulated device is installed already, or a real one is in use.
    """
    simulation = Simulation(profile)
    simulation.open()
    return simulation


def _add_memory(machine: Machine, owners: Owners) -> None:
    """Give a machine its memory, of the device and pinned, under the options of the environment."""
    events = AllocatorEvents(machine)
    device, host = machine.profile.device, machine.profile.host

    def spend(name: str, _: int) -> None:
        if name in ("cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaFreeHost"):
            machine.clock.advance(host.malloc_us)

    def is_capturing() -> bool:
        return machine.current.capture is not None

    text = os.environ.get("PYTORCH_CUDA_ALLOC_CONF") or os.environ.get("PYTORCH_ALLOC_CONF") or ""
    settings = parse_options(text)
    shared: dict[str, Any] = {
        "settings": settings,
        "watcher": owners,
        "on_call": spend,
        "is_capturing": is_capturing,
    }
    machine.memory = DeviceMemory(
        Arena(), events, total_bytes=device.total_bytes, used_bytes=device.context_bytes, **shared
    )
    machine.pinned = PinnedMemory(
        Arena(PINNED_BASE, PINNED_SPAN_BYTES), events, read_clock=lambda: machine.clock.host_us, **shared
    )
    machine.randomness = Randomness(machine.memory)
