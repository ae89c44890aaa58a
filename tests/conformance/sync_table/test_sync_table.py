"""Each program makes the host wait as often, and as visibly, as it did on the GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.sync_table.measure import Row, measure, read_real_ms
from tests.conformance.sync_table.programs import PROGRAMS

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "sync_table.json").read_text(encoding="utf-8")
)
ROWS: dict[str, dict[str, Any]] = GOLDEN["rows"]

FIRST_MEASURED = "item"
"""The first row of the recording: sync debug mode's own notice, once a process, is counted in it."""
NEEDS_NUMPY = {"torch.as_tensor(np)"}


def expect(name: str) -> Row:
    """Return what the H200 did."""
    return Row(ROWS[name]["sync_debug_warnings"], ROWS[name]["blocks"])


def test_there_is_a_program_for_each_row() -> None:
    """None is left out."""
    assert set(ROWS) == set(PROGRAMS)


@pytest.mark.parametrize("name", ROWS)
def test_a_program_waits_as_recorded(name: str, simulation: Any) -> None:
    """As many warnings of sync debug mode, and the host blocked or not."""
    if name in NEEDS_NUMPY:
        pytest.importorskip("numpy")
    clock = simulation.machine.clock
    actual = measure(name, lambda: clock.host_us / 1000.0, has_notice=name == FIRST_MEASURED)
    assert expect(name) == actual


@pytest.mark.gpu
@pytest.mark.parametrize("name", ROWS)
def test_a_program_waits_as_recorded_on_a_gpu(name: str) -> None:
    """The recording holds on the GPU at hand too; the notice can't come twice."""
    if name in NEEDS_NUMPY:
        pytest.importorskip("numpy")
    expected = expect(name)
    if name == FIRST_MEASURED:
        expected = expected._replace(warnings=expected.warnings - 1)
    assert expected == measure(name, read_real_ms)
