"""The cost model against the H200: measured on one NVIDIA H200, driver 580.159, torch 2.11.0+cu130, Python 3.12."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

from judge.devices.sim.cost import Cost, Matrices
from judge.devices.sim.machine import Machine
from judge.devices.sim.profile import load_profile

GOLDEN: dict[str, list[float]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "op_costs.json").read_text(encoding="utf-8")
)["us"]
PROFILE = load_profile("h200")
COST = Cost(PROFILE)
MEDIAN_LIMIT = 0.10
WORST_LIMIT = 0.35
HOST_MEDIAN_LIMIT = 0.10


class Row(NamedTuple):
    """One operation: what the model says and what was measured, in microseconds."""

    name: str
    modelled_us: float
    measured_us: float
    modelled_host_us: float = 0.0
    measured_host_us: float = 0.0

    @property
    def error(self) -> float:
        """The model's error on the device, as a share."""
        return abs(self.modelled_us / self.measured_us - 1.0)

    @property
    def host_error(self) -> float:
        """The model's error on the host, as a share."""
        return abs(self.modelled_host_us / self.measured_host_us - 1.0)


def model_op(name: str, shape: str, dtype: str) -> tuple[float, float]:
    """Return the device and the host time that the model gives an operation."""
    width, kind = (4, "f32") if dtype == "torch.float32" else (2, "f16")
    sizes = [int(size) for size in shape.split("x")]
    if name == "mm":
        m, k, n = sizes
        work = COST.kernel(
            "mm",
            flops=2.0 * m * n * k,
            read_bytes=(m * k + k * n) * width,
            written_bytes=m * n * width,
            dtype_class=kind,
            elements=m * n,
            matrices=Matrices(1, m, n, k),
        )
        return work.duration_us, work.launch_us
    elements = prod(sizes)
    work = COST.kernel(
        {"topk50": "topk"}.get(name, name),
        read_bytes={"add": 2, "zero_": 0}.get(name, 1) * elements * width,
        written_bytes=8 if name in ("sum", "argmax") else elements * width,
        dtype_class=kind,
        elements=elements,
        row=sizes[-1] if len(sizes) > 1 else 0,
    )
    return work.duration_us, work.launch_us


def model_copy(direction: str, memory: str, size: str) -> float:
    """Return the host's time from a copy's call to the end of the wait for the device."""
    machine = Machine(PROFILE)
    machine.launch(machine.cost.copy(direction, int(size), is_pinned=memory == "pinned"), (), ())
    machine.synchronize_device()
    return machine.clock.host_us


def read_rows() -> list[Row]:
    """Return every operation of the golden data."""
    rows = []
    for name, measured in GOLDEN.items():
        words = name.split()
        if words[0] in ("h2d", "d2h"):
            rows.append(Row(name, model_copy(*words), measured[0]))
        else:
            rows.append(Row(name, *_mix(model_op(*words), measured)))
    return rows


def _mix(modelled: tuple[float, float], measured: list[float]) -> tuple[float, float, float, float]:
    return modelled[0], measured[0], modelled[1], measured[1]


ROWS = read_rows()


@pytest.mark.bookkeeping
def test_every_measured_operation_is_modelled():
    """None of the 161 rows is left out."""
    assert 161 == len(ROWS)


def test_the_median_error_is_small():
    """Half of all operations are nearer than a tenth to what the GPU took."""
    assert median(row.error for row in ROWS) <= MEDIAN_LIMIT


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_operation_is_far_off(row, device_kind):
    """The worst is within about a third of what the GPU took: when it was recorded, or the one at hand takes now."""
    if device_kind == "cuda":
        from tests.conformance.costs.measure import measure_copy, measure_op

        words = row.name.split()
        measured_us = measure_copy(*words) if words[0] in ("h2d", "d2h") else measure_op(*words)
        row = row._replace(measured_us=measured_us)
    assert row.error <= WORST_LIMIT, f"modelled {row.modelled_us:.2f} us, measured {row.measured_us:.2f} us"


def test_the_hosts_time_to_launch_is_near():
    """By the median over operations."""
    assert median(row.host_error for row in ROWS if row.measured_host_us) <= HOST_MEDIAN_LIMIT


def test_the_order_of_the_operations_is_kept():
    """Of two of which one took twice as long or more, the model has the same one slower."""
    wrong = [
        (a.name, b.name)
        for a in ROWS
        for b in ROWS
        if a.measured_us > 2.0 * b.measured_us and a.modelled_us <= b.modelled_us
    ]
    assert [] == wrong
