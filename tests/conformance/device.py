"""A device that programs run on, real or simulated."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import pytest

from tests.conformance.processes import Done, run_programs

Key = TypeVar("Key")


@dataclass(frozen=True)
class OnDevice:
    """What one test runs on.

    Args:
        kind: real (``cuda``) or simulated (``sim``).
        simulation: the installation, ``None`` on a real GPU.
    """

    kind: Literal["cuda", "sim"]
    simulation: Any

    @property
    def is_simulated(self) -> bool:
        """Whether the device is the simulated one."""
        return self.kind == "sim"

    def read_clock_ms(self) -> float:
        """Return the host's time: virtual on the simulated device."""
        if self.is_simulated:
            return float(self.simulation.machine.clock.host_us) / 1000.0
        return time.perf_counter() * 1000.0

    def tidy(self) -> None:
        """Leave a real GPU as the next test expects it; memory is not given back. *Synchronises: yes.*"""
        import torch

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the mode is called a prototype at its first use
            torch.cuda.set_sync_debug_mode("default")
        torch.cuda.set_stream(torch.cuda.default_stream())
        torch.cuda.synchronize()


def run_selected(request: pytest.FixtureRequest, parameter: str, codes: Mapping[Key, str]) -> dict[Key, Done]:
    """Run on a real GPU, in advance and side by side, the programs whose tests are selected.

    A test that measures time must not run beside them, so all have ended when this returns.

    Args:
        request: of a fixture.
        parameter: the one by which a test names its program.
        codes: all programs, by that parameter.
    """
    parameters = [getattr(getattr(item, "callspec", None), "params", {}) for item in request.session.items]
    wanted = {values[parameter] for values in parameters if parameter in values}
    selected = [key for key in codes if key in wanted]
    return dict(zip(selected, run_programs([codes[key] for key in selected]), strict=True))
