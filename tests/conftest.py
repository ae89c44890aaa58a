"""What all tests of the judge share: what needs a GPU is skipped where none is, and a whole run takes all cores."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from judge.devices.choice import find_obstacle

MAX_WORKERS = 8
"""Each imports torch, and starts processes that do."""
DRIVER = Path("/dev/nvidiactl")
"""There wherever a GPU is. Tests that measure one must not run side by side."""


def pytest_configure() -> None:
    """Give torch one thread, here and in processes that are started: the threads of many wait for each other."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run the whole suite in several processes where pytest-xdist is installed, unless told otherwise.

    Not by ``addopts``, which would be an error without pytest-xdist, and would hold for the tests of problems too.
    """
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if not is_whole or hasattr(config, "workerinput") or not config.pluginmanager.has_plugin("xdist"):
        return
    option = config.option
    is_watched = option.usepdb or option.trace or option.capture == "no"
    is_told = option.numprocesses is not None or option.dist != "no" or option.tx
    workers = min(MAX_WORKERS, count_cores())
    if workers > 1 and not is_watched and not is_told and not DRIVER.exists():
        option.numprocesses = workers
        option.dist = "worksteal"


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a real GPU where none answers, with the reason."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    obstacle = find_obstacle() if marked else None
    if obstacle is not None:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=f"needs a real GPU: {obstacle.en}"))
