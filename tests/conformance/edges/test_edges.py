"""Programs at the edges of streams, events, graphs and memory end as they did on the GPU."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from tests.conformance.device import run_selected
from tests.conformance.edges.programs import PREAMBLE, Ending, read_ending, run_simulated

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "edges.json").read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = GOLDEN["cases"]

CUT = {
    # The recording keeps the end of a long error text; what was written before the exceptions is not in it.
    name
    for name, case in CASES.items()
    if case["err"].startswith("\n")
}

CHANGED = {
    # What torch 2.11 says, and from which version on it says something else.
    "replay_before_capture": (
        Version("2.14"),
        "RuntimeError: capture_end() must have been called before calling instantiate",
    )
}


def expect(name: str) -> Ending:
    """Return how a program ended on the H200."""
    case = CASES[name]
    ending = read_ending(case["rc"], case["out"], case["err"])
    since, text = CHANGED.get(name, (None, None))
    if since is not None and Version(importlib.metadata.version("torch")) >= since:
        return ending._replace(error=text)
    return ending


@pytest.fixture(scope="module")
def endings(request: pytest.FixtureRequest, device_kind: str) -> Mapping[str, Ending]:
    """How the programs end on the GPU; none on the simulated device, where each runs when its test does."""
    if device_kind == "sim":
        return {}
    codes = {name: PREAMBLE + case["code"] for name, case in CASES.items()}
    return {name: read_ending(*done) for name, done in run_selected(request, "name", codes).items()}


@pytest.mark.bookkeeping
def test_there_are_the_recorded_programs() -> None:
    """None is left out."""
    assert 25 == len(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_program_ends_as_recorded(name: str, endings: Mapping[str, Ending]) -> None:
    """The same exception by type and first line, or the same output."""
    expected = expect(name)
    actual = endings.get(name) or run_simulated(CASES[name]["code"])
    assert expected[:2] == actual[:2]
    if name not in CUT:
        assert expected.warnings == actual.warnings
