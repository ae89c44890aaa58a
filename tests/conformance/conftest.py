"""The device of the conformance suite: the simulated one, or a real GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.devices.choice import find_obstacle
from tests.devices.sim.conftest import simulation

__all__ = ["device_kind", "simulation"]

FOLDER = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--device``; this file must be on the way to what the command line names."""
    parser.addoption(
        "--device",
        choices=("sim", "cuda"),
        default="sim",
        help="what tests/conformance runs on: the simulated device (default) or a real GPU",
    )


def find_kind(config: pytest.Config) -> str:
    """Return ``sim`` or ``cuda``; a run of the whole suite, which has no such option, is ``sim``."""
    return str(config.getoption("--device", default="sim"))


@pytest.fixture
def device_kind(request: pytest.FixtureRequest) -> str:
    """Return ``sim`` or ``cuda``."""
    return find_kind(request.config)


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
        if is_real and "simulation" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason="the simulated device only: run without --device cuda"))
        elif not is_real and item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs a real GPU: run with --device cuda"))
