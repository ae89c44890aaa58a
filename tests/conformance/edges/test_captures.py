"""Captures and replays print what they printed on the GPU."""

from __future__ import annotations

import ast
import importlib.metadata
from typing import Any

import pytest
from packaging.version import Version

from tests.conformance.edges.captures import CASES, run_real, run_simulated

STALE_STREAM = "warm-up on the default stream, backward captured"
"""Torch 2.13 looks for this itself; 2.11, which was recorded, lets CUDA refuse it."""


def normalise(name: str, out: str) -> list[str]:
    """Return the lines of an output without what is the driver's or the version's choice."""
    lines = out.splitlines()
    if name == STALE_STREAM and "has a stale reference to the default stream" in lines[0]:
        assert Version(importlib.metadata.version("torch")) >= Version("2.13")
        return CASES[name]["out"].splitlines()
    return [str(sorted(ast.literal_eval(line))) if line.startswith("[(") else line for line in lines]


@pytest.mark.parametrize(
    "run", [pytest.param(run_simulated, id="sim"), pytest.param(run_real, id="cuda", marks=pytest.mark.gpu)]
)
@pytest.mark.parametrize("name", CASES)
def test_a_program_prints_what_it_printed_on_the_gpu(name: str, run: Any) -> None:
    """Values, and errors by type and first line."""
    assert normalise(name, CASES[name]["out"]) == normalise(name, run(CASES[name]["code"]))
