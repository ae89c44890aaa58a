"""Install the simulated device under torch, and take it away again. (torch)"""

from __future__ import annotations

import importlib
import warnings
from typing import Any, Self

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # where there is no NumPy, torch says so on the way; the user did not ask for it
    import torch
    import torch.utils.flop_counter

from judge.devices.sim import compat
from judge.devices.sim.graphs.randomness import Randomness
from judge.devices.sim.machine import Machine
from judge.devices.sim.patches import Patches
from judge.devices.sim.profile import load_profile
from judge.devices.sim.provision import provide_memory
from judge.devices.sim.races.second_look import SecondLook
from judge.devices.sim.tensors.context import Context
from judge.devices.sim.tensors.dispatch import SimulationMode
from judge.devices.sim.tensors.execution import Execution
from judge.devices.sim.tensors.membership import Ranges
from judge.devices.sim.tensors.owners import Owners
from judge.devices.sim.tensors.undecided import Undecided

SURFACES = (
    "streams", "events", "devices", "accelerator", "flags", "memory", "random", "graphs", "tensor", "conversion",
    "factories", "types", "storage", "serialization", "printing", "autograd", "autocast", "modules", "attention",
    "norms", "compiler", "distributed", "replicas", "profiling", "threads", "warning_lines",
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
        cuda: Any = torch.cuda
        if cuda.is_initialized():
            raise RuntimeError("torch has used a real GPU in this process: the simulated device needs a fresh one")
        self.machine = Machine(load_profile(profile))
        """The device and its host, without torch."""
        self.patches = Patches()
        """What of torch is replaced."""
        self.context = Context()
        """What the surface knows of a call."""
        owners = Owners(self.machine)
        provide_memory(self.machine, owners)
        self.machine.randomness = Randomness(self.machine.memory)
        self.machine.second_look = SecondLook(self._view, self.machine.host_vector, self._has_several_streams)
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

    def _view(self, address: int, size: int) -> memoryview:
        """Return bytes of the device or of pinned memory."""
        machine = self.machine
        arena = machine.pinned.arena if address in machine.pinned.arena else machine.memory.arena
        return arena.view(address, size)  # type: ignore[no-any-return]

    def _has_several_streams(self) -> bool:
        return len(self.machine.streams.streams) > 1

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
        RuntimeError: a simulated device is installed already, or a real one is in use; or this version of torch is
            not as the simulation expects it.
    """
    compat.check_names()
    if not compat.is_known():
        with _open(profile) as trial:
            compat.check_behaviour(trial)
    return _open(profile)


def _open(profile: str) -> Simulation:
    simulation = Simulation(profile)
    simulation.open()
    return simulation
