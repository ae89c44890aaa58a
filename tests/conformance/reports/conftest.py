"""What the reports are observed with, on a simulated device or a real one."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conformance.device import OnDevice


@dataclass(frozen=True)
class Outcome:
    """What a program showed.

    Args:
        is_wrong: whether its values were wrong.
        error: its exception, as text.
        races: kinds of the races told, each once; none on a real GPU.
        is_doubted: whether a second look found another value that could have come out.
    """

    is_wrong: bool
    error: str
    races: tuple[str, ...]
    is_doubted: bool = False


class Observation:
    """Runs programs and watches.

    Args:
        simulation: the simulated device, ``None`` on a real GPU.
    """

    def __init__(self, simulation: Any) -> None:
        self.is_simulated = simulation is not None
        self._simulation = simulation

    def run(self, program: Callable[[], bool]) -> Outcome:
        """Run a program, and return what it showed."""
        import torch

        is_wrong, error = False, ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an empty graph is warned of, and is found by its values
            try:
                is_wrong = program()
            except (RuntimeError, ValueError) as raised:
                error = str(raised)
            torch.cuda.set_stream(torch.cuda.default_stream())  # a capture that fails does not come back to it
            gc.collect()  # what failed lets go of its graphs
            torch.cuda.synchronize()
        races = self._simulation.machine.shadow.races if self.is_simulated else []
        kinds = dict.fromkeys(race.kind for race in races)
        return Outcome(is_wrong, error, tuple(kinds), any(race.looks for race in races))


@pytest.fixture
def observation(on_device: OnDevice) -> Observation:
    """Observe on the device of the session."""
    return Observation(on_device.simulation)
