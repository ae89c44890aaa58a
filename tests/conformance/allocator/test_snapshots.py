"""Snapshots and history: PyTorch's format, and PyTorch's own tools read them."""

from __future__ import annotations

from types import ModuleType

import pytest

from judge.devices.sim.allocator import OutOfMemory
from tests.conformance.allocator.bench import BASE, MIB, Bench

ENTRY = {"time_us": 1, "compile_context": "N/A", "user_metadata": "", "pool_id": (0, 0)}


def run_a_little(bench: Bench) -> None:
    """Allocate, free, flush and run out of memory."""
    kept = bench.malloc(700)
    bench.free(bench.malloc(4 * MIB))
    bench.record_stream(kept, 1)
    bench.events.blocked.add(1)
    bench.free(kept)
    bench.malloc(30 * MIB)
    bench.allocator.empty_cache()
    with pytest.raises(OutOfMemory):
        bench.malloc(2048 * MIB)


def test_a_segment_is_described_as_pytorch_does() -> None:
    """Sizes, stream, pool, kind and blocks; a split segment has lost the frames of its driver call."""
    bench = Bench()
    bench.history.start(max_entries=100)
    bench.malloc(700)
    (segment,) = bench.allocator.memory_snapshot()
    assert {
        "device": 0,
        "address": BASE,
        "total_size": 2 * MIB,
        "allocated_size": 1024,
        "active_size": 1024,
        "requested_size": 700,
        "stream": 0,
        "segment_type": "small",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": [],
        "blocks": [
            {
                "address": BASE,
                "size": 1024,
                "requested_size": 700,
                "state": "active_allocated",
                "frames": bench.frames,
            },
            {
                "address": BASE + 1024,
                "size": 2 * MIB - 1024,
                "requested_size": 0,
                "state": "inactive",
                "frames": [],
            },
        ],
    } == segment


def test_every_step_gets_an_entry() -> None:
    """Requested bytes for blocks, whole ones for segments, free bytes of the device when memory runs out."""
    bench = Bench()
    bench.history.start(max_entries=100)
    run_a_little(bench)
    bench.allocator.memory_snapshot()
    shown = [
        (entry["action"], entry.get("addr", BASE) - BASE, entry["size"])
        for entry in bench.history.entries
        if entry["action"] != "snapshot"
    ]
    assert [
        ("segment_alloc", 0, 2 * MIB),
        ("alloc", 0, 700),
        ("segment_alloc", 2 * MIB, 20 * MIB),
        ("alloc", 2 * MIB, 4 * MIB),
        ("free_requested", 2 * MIB, 4 * MIB),
        ("free_completed", 2 * MIB, 4 * MIB),
        ("free_requested", 0, 700),
        ("segment_alloc", 22 * MIB, 30 * MIB),
        ("alloc", 22 * MIB, 30 * MIB),
        ("free_completed", 0, 700),
        ("segment_free", 2 * MIB, 20 * MIB),
        ("segment_free", 0, 2 * MIB),
        ("oom", 0, 2048 * MIB),
    ] == shown
    failed, taken = bench.history.entries[-2:]
    assert 994 * MIB == failed["device_free"]
    assert ("snapshot", 30 * MIB) == (taken["action"], taken["size"])


def test_an_entry_has_pytorchs_fields() -> None:
    """Time from the clock, text that was attached, the pool's id, and frames."""
    bench = Bench()
    bench.history.start(max_entries=1)
    bench.history.metadata = "epoch 3"
    bench.time_us = 0
    bench.malloc(512, stream=4)
    assert [
        {
            **ENTRY,
            "action": "alloc",
            "addr": BASE,
            "size": 512,
            "stream": 4,
            "time_us": 2,
            "user_metadata": "epoch 3",
            "frames": bench.frames,
        }
    ] == bench.history.entries


def test_the_ring_keeps_the_newest_entries() -> None:
    """Older ones are overwritten."""
    bench = Bench()
    bench.history.start(max_entries=2)
    bench.free(bench.malloc(512))
    assert ["free_requested", "free_completed"] == [entry["action"] for entry in bench.history.entries]


@pytest.mark.parametrize(
    ("context", "expected"),
    [(None, [False, False]), ("state", [False, False]), ("alloc", [True, True]), ("all", [True, True])],
    ids=["none", "state", "alloc", "all"],
)
def test_frames_are_kept_as_far_as_asked(context: str | None, expected: list[bool]) -> None:
    """A free without frames of its own shows those of the allocation."""
    bench = Bench()
    bench.history.start(context=context, max_entries=100)
    bench.free(bench.malloc(512))
    shown = {entry["action"]: "frames" in entry for entry in bench.history.entries}
    assert expected == [shown["alloc"], shown["free_requested"]]


def test_state_keeps_frames_of_living_blocks_and_no_history() -> None:
    """One entry is all that remains."""
    bench = Bench()
    bench.history.start("state", max_entries=100)
    bench.malloc(512)
    bench.malloc(512)
    assert 1 == len(bench.history.entries)
    assert bench.frames == bench.allocator.memory_snapshot()[0]["blocks"][0]["frames"]


def test_actions_can_be_left_out_and_history_cleared() -> None:
    """Starting anew with ``clear_history`` forgets, and stopping forgets too."""
    bench = Bench()
    bench.history.start(max_entries=100, skip_actions=["free_requested"])
    bench.free(bench.malloc(512))
    assert ["segment_alloc", "alloc", "free_completed"] == [entry["action"] for entry in bench.history.entries]
    bench.history.start(max_entries=100, clear_history=True)
    assert [] == bench.history.entries
    bench.malloc(512)
    bench.history.stop()
    assert [] == bench.history.entries


@pytest.mark.parametrize("wrong", [{"enabled": "some"}, {"context": "some"}], ids=["enabled", "context"])
def test_unknown_levels_are_refused(wrong: dict[str, str]) -> None:
    """As PyTorch refuses them."""
    with pytest.raises(RuntimeError, match=r"^expected "):
        Bench().history.start(**wrong, max_entries=1)


def test_without_history_nothing_is_noted() -> None:
    """It is off at first."""
    bench = Bench()
    bench.malloc(512)
    assert [] == bench.history.entries


@pytest.mark.parametrize("conf", ["", "expandable_segments:True"], ids=["ordinary", "expandable"])
@pytest.mark.parametrize("tool", ["segsum", "trace", "memory", "segments", "trace_plot", "segment_plot"])
def test_pytorchs_tools_read_a_snapshot(tool: str, conf: str, torch: ModuleType) -> None:
    """The functions of ``torch.cuda._memory_viz`` take it as they take a real one."""
    bench = Bench(conf)
    bench.history.start(max_entries=100)
    run_a_little(bench)
    snapshot = bench.allocator.snapshot()
    viz = torch.cuda._memory_viz
    if tool in ("memory", "segments"):
        text = getattr(viz, tool)(snapshot, format_flamegraph=lambda lines: lines)
    else:
        text = getattr(viz, tool)(snapshot)
    assert "" != text


def test_a_snapshot_of_another_device_keeps_the_place_of_its_trace() -> None:
    """``device_traces`` has one list a device; those before are empty."""
    snapshot = Bench().allocator.snapshot()
    assert ["segments", "device_traces", "allocator_settings", "external_annotations"] == list(snapshot)
    assert [[]] == snapshot["device_traces"]
