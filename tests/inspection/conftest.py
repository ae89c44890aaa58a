"""Runs that several tests look at: a process that imports torch takes seconds."""

from __future__ import annotations

import pytest

from tests.devices.sim.conftest import simulation
from tests.inspection.scripts import WAITING, Inspected, inspect

__all__ = ["simulation"]


@pytest.fixture(scope="session")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Inspected:
    """Return a run of a script that waits, with all outputs; it is to fail on races, and has none."""
    folder = tmp_path_factory.mktemp("waiting")
    outputs = ("--json", "out.json", "--trace", "trace.json", "--snapshot", "memory.pickle")
    return Inspected(folder, inspect(folder, WAITING, *outputs, "--fail-on", "races"))


@pytest.fixture(scope="session")
def waiting_in_chinese(tmp_path_factory: pytest.TempPathFactory) -> Inspected:
    """Return a run of the same script in Chinese; it is to fail on races and on waits."""
    folder = tmp_path_factory.mktemp("waiting_in_chinese")
    return Inspected(folder, inspect(folder, WAITING, "--fail-on", "races,syncs", TACIT_LANG="zh"))
