"""Programs at the edges of streams, events, graphs and memory end as they did on the GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.edges.programs import Ending, read_ending, run_real, run_simulated

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "edges.json").read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = GOLDEN["cases"]

CUT = {
    # The recording keeps the end of a long error text; what was written before the exceptions is not in it.
    name
    for name, case in CASES.items()
    if case["err"].startswith("\n")
}


def expect(name: str) -> Ending:
    """Return how a program ended on the H200."""
    case = CASES[name]
    return read_ending(case["rc"], case["out"], case["err"])


def test_there_are_the_recorded_programs() -> None:
    """None is left out."""
    assert 25 == len(CASES)


@pytest.mark.parametrize(
    "run", [pytest.param(run_simulated, id="sim"), pytest.param(run_real, id="cuda", marks=pytest.mark.gpu)]
)
@pytest.mark.parametrize("name", CASES)
def test_a_program_ends_as_recorded(name: str, run: Any) -> None:
    """The same exception by type and first line, or the same output."""
    expected = expect(name)
    actual = run(CASES[name]["code"])
    assert expected[:2] == actual[:2]
    if name not in CUT:
        assert expected.warnings == actual.warnings
