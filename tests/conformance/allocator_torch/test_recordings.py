"""Every event of the real allocator, played back through torch."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.conformance.allocator.replay import Replay
from tests.conformance.allocator.test_recordings import COUNTS
from tests.conformance.allocator_torch.real import write_program
from tests.conformance.allocator_torch.recording import load
from tests.conformance.allocator_torch.simulated import SimulatedPlayer
from tests.conformance.device import OnDevice, run_selected
from tests.conformance.processes import Done

TRACES = [(name, at) for name, count in COUNTS.items() for at in range(count)]
KEPT = ("addr", "size", "stream", "type", "blocks")

read = functools.lru_cache(load)


@pytest.fixture(scope="module")
def fresh(request: pytest.FixtureRequest, device_kind: str) -> Mapping[tuple[str, int], Done]:
    """What the GPU at hand does with the recorded requests; nothing where there is none."""
    return {} if device_kind == "sim" else run_selected(request, "trace", {at: write_program(*at) for at in TRACES})


@pytest.mark.parametrize("trace", TRACES, ids=[f"{name}-{at}" for name, at in TRACES])
def test_a_recording_is_reproduced_through_torch(
    trace: tuple[str, int], fresh: Mapping[tuple[str, int], Done], on_device: OnDevice
) -> None:
    """Address, allocated and reserved bytes after each event, and the snapshot at the end, are the real ones.

    A GPU hands out other addresses than the recorded ones, and of two blocks that fit as well the lower is taken: there
    a new recording is made of the same requests, and the simulated allocator is held to that one.
    """
    recorded = read(trace[0])
    if not on_device.is_simulated:
        compare_allocators(recorded, fresh[trace])
        return
    import torch

    player = SimulatedPlayer(torch, on_device.simulation.machine, recorded, is_raw=trace[0] == "alloc_traces")
    events, final = recorded["traces"][trace[1]]["events"], recorded["traces"][trace[1]]["final"]
    for number, event in enumerate(events):
        assert event == player.play(event), f"event {number}"
    assert [{key: segment[key] for key in KEPT} for segment in final] == player.final()
    player.held.clear()


def compare_allocators(recorded: dict[str, Any], done: Done) -> None:
    """Hold what the GPU at hand did against the simulated allocator."""
    assert 0 == done.returncode, done.err
    new = json.loads(done.out)
    replay = Replay(recorded.get("conf"), recorded.get("cap"))
    for number, event in enumerate(new["events"]):
        assert event == replay.play(event), f"event {number}"
    assert new["final"] == replay.final()
