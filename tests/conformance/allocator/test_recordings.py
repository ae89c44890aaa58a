"""Every event of the real allocator, played back."""

from __future__ import annotations

import functools

import pytest

from tests.conformance.allocator.replay import Replay, load

COUNTS = {
    "alloc_traces": 30,
    "alloc_roundup": 4,
    "alloc_maxsplit": 4,
    "alloc_oom": 3,
    "alloc_record": 4,
    "alloc_gc": 3,
    "alloc_expandable": 4,
}
CASES = [pytest.param(name, at, id=f"{name}-{at}") for name, count in COUNTS.items() for at in range(count)]

read = functools.lru_cache(load)


def test_every_recorded_trace_is_played_back() -> None:
    """The list of cases above leaves no trace of a recording out."""
    assert {name: len(read(name)["traces"]) for name in COUNTS} == COUNTS


@pytest.mark.parametrize(("name", "at"), CASES)
def test_a_recording_is_reproduced_event_by_event(name: str, at: int) -> None:
    """Address, allocated and reserved bytes after each event, and the snapshot at the end, are the real ones."""
    recording = read(name)
    trace = recording["traces"][at]
    replay = Replay(recording.get("conf"), recording.get("cap"))
    for number, event in enumerate(trace["events"]):
        assert event == replay.play(event), f"event {number}"
    kept = ("addr", "size", "stream", "type", "blocks")
    assert [{key: segment[key] for key in kept} for segment in trace["final"]] == replay.final()
