"""A fresh simulated device for each test that asks for one."""

from __future__ import annotations

import functools
import gc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def simulation() -> Iterator[Any]:
    """Install the simulated device for one test, and put torch back exactly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it lacks NumPy
        installed = load()()
    with installed:
        yield installed


@functools.cache
def load() -> Callable[[], Any]:
    """Import torch and what installs the device.

    Every capture looks through all objects that there are, and through garbage: torch's own are spared from now on.
    """
    pytest.importorskip("torch")
    from judge.devices.sim.install import install

    gc.collect()
    gc.freeze()
    return install
