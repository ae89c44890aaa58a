"""Streams, events and the device answer as the H200 did: values, prints, errors and warnings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.edges_streams.programs import PROGRAMS, evaluate

GOLDEN: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "stream_api.json").read_text(encoding="utf-8")
)["results"]


@pytest.fixture
def results(simulation) -> dict[str, list[str]]:
    """Return what the expressions give on the simulated device."""
    return evaluate()


def test_there_is_a_recording_of_each_expression():
    """None is left out."""
    assert list(GOLDEN) == list(PROGRAMS)


def test_each_expression_gives_what_it_gave_on_the_gpu(results):
    """One after the other in one process, as they were recorded: some depend on what went before."""
    assert results == GOLDEN
