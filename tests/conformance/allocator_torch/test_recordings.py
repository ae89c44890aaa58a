"""Every event of the real allocator, played back through torch."""

from __future__ import annotations

import functools

import pytest

from tests.conformance.allocator.test_recordings import COUNTS
from tests.conformance.allocator_torch.recording import Player, load

CASES = [pytest.param(name, at, id=f"{name}-{at}") for name, count in COUNTS.items() for at in range(count)]
KEPT = ("addr", "size", "stream", "type", "blocks")

read = functools.lru_cache(load)


@pytest.mark.parametrize(("name", "at"), CASES)
def test_a_recording_is_reproduced_through_torch(name, at, simulation):
    """Address, allocated and reserved bytes after each event, and the snapshot at the end, are the real ones."""
    import torch

    recording = read(name)
    trace = recording["traces"][at]
    player = Player(torch, simulation.machine, recording, is_raw=name == "alloc_traces")
    for number, event in enumerate(trace["events"]):
        assert event == player.play(event), f"event {number}"
    assert [{key: segment[key] for key in KEPT} for segment in trace["final"]] == player.final()
    player.held.clear()
