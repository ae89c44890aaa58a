"""Each program makes the host wait as often, and as visibly, as it did on the GPU."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from tests.conformance.device import OnDevice
from tests.conformance.sync_table.measure import Row, count_syncs, measure
from tests.conformance.sync_table.programs import PROGRAMS

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "sync_table.json").read_text(encoding="utf-8")
)
ROWS: dict[str, dict[str, Any]] = GOLDEN["rows"]

FIRST_MEASURED = "item"
"""The first row of the recording: sync debug mode's own notice, once a process, is counted in it."""
PROCESSES = 6
"""That count on a real GPU at once."""
NEEDS_NUMPY = {"torch.as_tensor(np)"}


@pytest.fixture(scope="module")
def counts(device_kind: str) -> Mapping[str, int]:
    """How many waits the instruments of a real GPU count in each program; empty on the simulated device."""
    if device_kind == "sim":
        return {}
    with ThreadPoolExecutor(PROCESSES) as pool:
        found: dict[str, int] = {}
        for part in pool.map(count_on_gpu, range(PROCESSES)):
            found |= part
    return found


def count_on_gpu(part: int) -> dict[str, int]:
    """Return what a process of its own counts in one part of the programs."""
    names = list(ROWS)[part::PROCESSES]
    command = [sys.executable, "-m", "tests.conformance.sync_table.measure", *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert 0 == done.returncode, done.stderr[-4000:]
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.bookkeeping
def test_there_is_a_program_for_each_row() -> None:
    """None is left out."""
    assert set(ROWS) == set(PROGRAMS)


@pytest.mark.parametrize("name", ROWS)
def test_a_program_waits_as_recorded(name: str, on_device: OnDevice) -> None:
    """As many warnings of sync debug mode, and the host blocked or not."""
    if name in NEEDS_NUMPY:
        pytest.importorskip("numpy")
    if name == "combinations" and Version(importlib.metadata.version("torch")) >= Version("2.14"):
        pytest.skip("the recording is of torch 2.11; 2.14 computes combinations with one wait less")
    expected = Row(ROWS[name]["sync_debug_warnings"], ROWS[name]["blocks"])
    is_first = name == FIRST_MEASURED
    if is_first and not on_device.is_simulated:  # the notice may have come before, in this process
        expected = expected._replace(warnings=expected.warnings - 1)
    assert expected == measure(name, on_device.read_clock_ms, has_notice=is_first and on_device.is_simulated)


@pytest.mark.parametrize("name", ROWS)
def test_the_instruments_count_a_wait_where_the_host_is_blocked(
    name: str, counts: Mapping[str, int], on_device: OnDevice
) -> None:
    """And nowhere else; the forms that sync debug mode does not see are counted too."""
    if name in NEEDS_NUMPY:
        pytest.importorskip("numpy")
    if on_device.is_simulated:
        from judge.instruments.simulated import SimulatedInstruments

        actual = count_syncs(name, SimulatedInstruments(on_device.simulation))
    else:
        actual = counts[name]
    assert ROWS[name]["blocks"] == bool(actual)
