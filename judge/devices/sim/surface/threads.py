"""Threads: each sees the device from its first line on. (torch)"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from judge.devices.sim.tensors.dispatch import SimulationMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches


def install(simulation: Simulation, patches: Patches) -> None:
    """Let every thread that starts from now on enter the mode: torch keeps modes thread by thread."""

    def make(stock: Callable[[threading.Thread], Any]) -> Callable[[threading.Thread], Any]:
        def bootstrap(self: threading.Thread) -> None:
            with SimulationMode(simulation.execution):
                stock(self)

        return bootstrap

    patches.wrap(threading.Thread, "_bootstrap_inner", make)
