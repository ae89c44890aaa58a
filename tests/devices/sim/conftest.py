"""A fresh simulated device for each test that asks for one."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

MANY = 50
"""Modules that are worth a search for garbage."""
spared = [0]
"""How many modules there were at each of them."""


@pytest.fixture
def simulation() -> Iterator[Any]:
    """Install the simulated device for one test, and put torch back exactly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it lacks NumPy
        pytest.importorskip("torch")
        from judge.devices.sim.install import install

        spare_modules()
        installed = install()
    with installed:
        yield installed


def spare_modules() -> None:
    """Spare new modules the searches for garbage and for tensors that every capture makes: torch has many objects."""
    if len(sys.modules) > spared[-1] + MANY:
        gc.collect()
        gc.freeze()
        spared.append(len(sys.modules))
