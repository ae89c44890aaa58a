"""The same programs on the simulated device and on a real GPU: the choice between them, and the result file."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.devices.choice import find_obstacle
from tests.conformance.device import OnDevice
from tests.conformance.result import ResultFile
from tests.devices.sim.conftest import simulation

__all__ = ["simulation"]

FOLDER = Path(__file__).parent
TIMEOUT_S = 600
"""On a real GPU the first test of a folder waits for the processes of all."""
DEVICE_FIXTURES = {"device_kind", "on_device"}
"""What a test asks for that runs a program on whichever device is chosen."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the device and the result file; this file must be on the way to what the command line names."""
    group = parser.getgroup("conformance", "Conformance of the simulated device")
    group.addoption("--device", choices=("sim", "cuda"), default="sim", help="what the programs run on (default: sim)")
    group.addoption("--conformance-result", metavar="FILE", default=None, help="write what agreed into a JSON file")


def find_kind(config: pytest.Config) -> str:
    """Return ``sim`` or ``cuda``; a run of the whole suite, which has no such option, is ``sim``."""
    return str(config.getoption("--device", default="sim"))


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark and the writer of the result file."""
    config.addinivalue_line("markers", "bookkeeping: holds the suite together; no row of the result file.")
    target = config.getoption("--conformance-result", default=None)
    if target and not hasattr(config, "workerinput"):
        config.pluginmanager.register(ResultFile(Path(target), find_kind(config)), "conformance-result")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what the other device is needed for, with the reason.

    Raises:
        pytest.UsageError: ``--device cuda``, and no GPU answers.
    """
    is_real = find_kind(config) == "cuda"
    obstacle = find_obstacle() if is_real else None
    if obstacle is not None:
        raise pytest.UsageError(f"--device cuda: {obstacle.en}")
    for item in items:
        if FOLDER not in item.path.parents:
            continue
        reason = find_reason(item, is_real=is_real)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
        elif is_real:
            item.add_marker(pytest.mark.timeout(TIMEOUT_S))


def pytest_collection_finish(session: pytest.Session) -> None:
    """On a real GPU, keep what is there already out of the many garbage collections to come: they take its time."""
    if find_kind(session.config) == "cuda":
        gc.collect()
        gc.freeze()


def find_reason(item: pytest.Item, *, is_real: bool) -> str | None:
    """Return why a test does not run on a device, ``None`` when it does."""
    names = set(getattr(item, "fixturenames", ()))
    if not is_real:
        return "needs a real GPU: run with --device cuda" if item.get_closest_marker("gpu") else None
    if "simulation" in names:
        return "the simulated device only: run without --device cuda"
    if not DEVICE_FIXTURES & names and not item.get_closest_marker("gpu"):
        return "not a device test: the engine of the simulation alone"
    return None


@pytest.fixture(scope="session")
def device_kind(request: pytest.FixtureRequest) -> str:
    """What the programs run on: ``sim`` or ``cuda``."""
    return find_kind(request.config)


@pytest.fixture
def on_device(request: pytest.FixtureRequest, device_kind: str) -> Iterator[OnDevice]:
    """The device for one test, real or simulated; ``device="cuda"`` means it."""
    if device_kind == "sim":
        yield OnDevice("sim", request.getfixturevalue("simulation"))
        return
    device = OnDevice("cuda", None)
    yield device
    device.tidy()
