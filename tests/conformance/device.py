"""A device that programs run on, real or simulated."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import pytest

Key = TypeVar("Key")
Value = TypeVar("Value")

PROCESSES_AT_MOST = 12
"""Processes that use the real GPU at once; each holds some 600 MiB of it."""


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
        import time

        return time.perf_counter() * 1000.0

    def tidy(self) -> None:
        """Leave a real GPU as the next test expects it. *Synchronises: yes.*"""
        import torch

        torch.cuda.set_sync_debug_mode("default")
        torch.cuda.set_stream(torch.cuda.default_stream())
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()


def run_selected(
    request: pytest.FixtureRequest, parameter: str, run: Callable[[Key], Value], every: Iterable[Key]
) -> dict[Key, Value]:
    """Run in advance, side by side, the programs whose tests are selected; each runs in a process of its own.

    A test that measures time must not run beside them, so all have ended when this returns.

    Args:
        request: of a fixture.
        parameter: the one by which a test names its program.
        run: runs a program in a process of its own, and returns what is compared.
        every: all programs.
    """
    wanted = {
        item.callspec.params[parameter]
        for item in request.session.items
        if parameter in getattr(getattr(item, "callspec", None), "params", {})
    }
    selected = [key for key in every if key in wanted]
    with ThreadPoolExecutor(min(PROCESSES_AT_MOST, os.cpu_count() or 1)) as pool:
        return dict(zip(selected, pool.map(run, selected), strict=True))
