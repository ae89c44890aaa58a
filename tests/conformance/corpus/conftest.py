"""Runs a snippet on the host and on the device."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.conformance.corpus.real import run
from tests.conformance.corpus.snippet import Snippet


class Bench:
    """Runs snippets.

    Args:
        request: of the test; its device is asked for when the first snippet runs there, not before.
        is_simulated: whether the device is the simulated one.
    """

    def __init__(self, request: pytest.FixtureRequest, *, is_simulated: bool) -> None:
        self.is_simulated = is_simulated
        self._request = request

    def run_on_host(self, snippet: Snippet) -> object:
        """Return what must come out: run eagerly on the host, torch as it is."""
        return run(snippet, "cpu") if snippet.expected is None else snippet.expected()

    def run_on_device(self, snippet: Snippet) -> object:
        """Return what the device gives; the simulated one is installed from now on."""
        self._request.getfixturevalue("on_device")
        return run(snippet, "cuda")

    def find_races(self) -> list[Any]:
        """Return the races told; on a real GPU there is nobody to tell them."""
        simulation = self._request.getfixturevalue("on_device").simulation
        return [] if simulation is None else [race.as_dict("en") for race in simulation.machine.shadow.races]


@pytest.fixture
def bench(request: pytest.FixtureRequest, device_kind: str) -> Bench:
    """Return a bench for the device at hand."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it lacks NumPy
        pytest.importorskip("torch")
    return Bench(request, is_simulated=device_kind == "sim")
