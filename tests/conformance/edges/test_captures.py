"""Captures and replays print what they printed on the GPU."""

from __future__ import annotations

import ast
import importlib.metadata
import re
from collections.abc import Mapping

import pytest
from packaging.version import Version

from tests.conformance.device import run_selected
from tests.conformance.edges.captures import CASES, SETTING, run_simulated

STALE_STREAM = "warm-up on the default stream, backward captured"
"""Torch 2.13 looks for this itself; 2.11, which was recorded, lets CUDA refuse it."""

CHANGED = {
    "reset": "a replay without a graph fails in `instantiate`",
    "dump": "`debug_dump` needs `cuda.bindings` and no debug mode",
}
"""What torch 2.14 does otherwise than torch 2.11, which was recorded."""

TORCH = Version(importlib.metadata.version("torch"))


def normalise(name: str, out: str) -> list[str]:
    """Return the lines of an output without what is the driver's or the version's choice."""
    lines = out.splitlines()
    if name == STALE_STREAM and "has a stale reference to the default stream" in lines[0]:
        assert Version("2.13") <= TORCH
        return CASES[name]["out"].splitlines()
    lines = [re.sub(r"^ok \d{12,}$", "ok a random seed", line) for line in lines]
    return [str(sorted(ast.literal_eval(line))) if line.startswith("[(") else line for line in lines]


@pytest.fixture(scope="module")
def outputs(request: pytest.FixtureRequest, device_kind: str) -> Mapping[str, str]:
    """What the programs print on the GPU; nothing on the simulated device, where each runs when its test does."""
    if device_kind == "sim":
        return {}
    codes = {name: SETTING + case["code"] for name, case in CASES.items()}
    return {name: done.out for name, done in run_selected(request, "name", codes).items()}


@pytest.mark.parametrize("name", CASES)
def test_a_program_prints_what_it_printed_on_the_gpu(name: str, outputs: Mapping[str, str]) -> None:
    """Values, and errors by type and first line."""
    if name in CHANGED and Version("2.14") <= TORCH:
        pytest.skip(f"since torch 2.14, {CHANGED[name]}")
    actual = outputs[name] if name in outputs else run_simulated(CASES[name]["code"])
    assert normalise(name, CASES[name]["out"]) == normalise(name, actual)
