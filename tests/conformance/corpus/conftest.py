"""Runs a snippet on the host and on the device."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.corpus.snippet import Snippet

SEED = 20


class Bench:
    """Runs snippets.

    Args:
        request: of the test; it installs the simulated device when the first snippet asks for one.
        is_simulated: whether the device is the simulated one.
    """

    def __init__(self, request: pytest.FixtureRequest, *, is_simulated: bool) -> None:
        self.is_simulated = is_simulated
        self._request = request

    def run_on_host(self, snippet: Snippet) -> object:
        """Return what must come out: run eagerly on the host, torch as it is."""
        return self._run(snippet, "cpu") if snippet.expected is None else snippet.expected()

    def run_on_device(self, snippet: Snippet) -> object:
        """Return what the device gives; with the simulated one, from now on it is installed."""
        if self.is_simulated:
            self._request.getfixturevalue("simulation")
        return self._run(snippet, "cuda")

    def find_races(self) -> list[Any]:
        """Return the races told; on a real GPU there is nobody to tell them."""
        if not self.is_simulated:
            return []
        return [race.as_dict("en") for race in self._request.getfixturevalue("simulation").machine.shadow.races]

    def _run(self, snippet: Snippet, device: str) -> object:
        import torch

        torch.manual_seed(SEED)
        return snippet.run(device)


@pytest.fixture
def bench(request: pytest.FixtureRequest, device_kind: str) -> Iterator[Bench]:
    """Return a bench for the device at hand; a real one computes convolutions as exactly as the host."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it lacks NumPy
        torch = pytest.importorskip("torch")
    if device_kind == "sim":
        yield Bench(request, is_simulated=True)
        return
    allowed = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    yield Bench(request, is_simulated=False)
    torch.backends.cudnn.allow_tf32 = allowed
