"""A fresh simulated device for each test that asks for one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def simulation() -> Iterator[Any]:
    """Install the simulated device for one test, and put torch back exactly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it lacks NumPy
        pytest.importorskip("torch")
        from judge.devices.sim.install import install

        installed = install()
    with installed:
        yield installed
