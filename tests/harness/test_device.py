"""Problems on the simulated device: it is there before the solution, and ``watch`` tells what the code does."""

from __future__ import annotations

from pathlib import Path

from tests.harness.child import run_child

STUB = '''
def run() -> None:
    """Do something on the device."""
    raise NotImplementedError
'''
SOLUTION = """
import torch

at_import = torch.zeros(3, device="cuda")

def run():
    return at_import.sum().item()
"""
TESTS = '''
import pytest

def test_the_wait_is_seen(solution, device, watch, measure, evidence):
    """One wait, in the solution's line."""
    assert "cuda" == device
    with watch() as seen:
        value = solution.run()
    measure("syncs", len(seen.syncs), places=seen.places)
    evidence.exact("waits", [[sync.kind, sync.call, sync.site.line] for sync in seen.syncs])
    evidence.exact("value", value)
    evidence.exact("races", len(seen.races))

@pytest.mark.gpu
def test_a_real_gpu_is_asked_for():
    """It is skipped on the simulated device."""
'''


def test_the_simulated_device_is_there_before_the_solution(tmp_path: Path) -> None:
    """A solution may make tensors as it is imported; its waits are told with their lines."""
    report = run_child(tmp_path, SOLUTION, TESTS, STUB, device="sim", test_s=60.0, patience_s=100.0)
    report.validate()
    assert {"test_the_wait_is_seen": "accepted", "test_a_real_gpu_is_asked_for": "not_judged"} == report.statuses
    (syncs,) = report.of_kind("measurement")
    assert ("syncs", 1.0, 7) == (syncs["name"], syncs["value"], syncs["places"][0]["line"])
    evidence = {record["name"]: record["value"] for record in report.of_kind("evidence")}
    assert {"waits": [["item", "Tensor.item", 7]], "value": 0.0, "races": 0} == evidence
    assert "sim" == report.of_kind("hello")[0]["device"]


def test_without_a_device_there_is_nothing_to_watch(tmp_path: Path) -> None:
    """The test is skipped, and says why."""
    tests = 'def test_watches(watch):\n    """It asks for a device."""\n'
    report = run_child(tmp_path, "def run():\n    pass\n", tests, STUB, device="cpu")
    assert {"test_watches": "not_judged"} == report.statuses
    assert "Needs a CUDA device, real or simulated" in report.diagnostic()["what"]["en"]
