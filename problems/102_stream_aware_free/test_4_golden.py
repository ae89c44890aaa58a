"""Four traces of the real allocator on an H200, replayed decision by decision.

Where they come from stands in ``goldens/README.md``. The device hands out the GPU's own segment addresses in order
of creation: a malloc after which memory_reserved() has grown made a segment, and its block lies at the base.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parent / "goldens" / "alloc_record.json.gz"


@pytest.fixture(scope="module")
def traces() -> list[dict[str, Any]]:
    """Return all traces."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as file:
        return json.load(file)["traces"]


@pytest.mark.weight(3)
@pytest.mark.parametrize("number", range(4), ids=["trace 1", "trace 2", "trace 3", "trace 4"])
def test_every_decision_is_the_real_gpus(play: Callable[..., Any], traces: list[Any], number: int) -> None:
    """Each malloc and free of the recorded trace ends as it did on the H200.

    zh: 录制轨迹中的每次 malloc 与 free 都与 H200 上的结果一致。
    """
    events = traces[number]["events"]
    reserved = 0
    bases = []
    for event in events:
        if event[0] == "malloc" and event[-1] > reserved:
            bases.append(event[4])
            reserved = event[-1]
    game = play(bases=bases)
    blocks: dict[int, Any] = {}
    for at, event in enumerate(events, 1):
        play_event(game, event, blocks)
        for name, value in find_figures(event).items():
            if game.last[name] != value:
                place = (f"Event {at} of trace {number + 1}, after", f"轨迹 {number + 1} 的第 {at} 个事件，执行")
                game.fail_figure(name, game.last[name], value, place=place)
    compare_ends(game, traces[number]["final"])
    game.record()


def play_event(game: Any, event: list[Any], blocks: dict[int, Any]) -> None:
    """Do what the event says; a stream is blocked by a long kernel, and done after a sync."""
    kind, name = event[:2]
    if kind == "malloc":
        blocks[name] = game.malloc(event[2], event[3])
    elif kind == "free":
        game.call("free", blocks.pop(name))
    elif kind == "record_stream":
        game.call("record_stream", blocks[name], event[2])
    elif kind == "block":
        game.device.launch(name, "150 ms")
    else:
        game.device.finish(name)


def find_figures(event: list[Any]) -> dict[str, int]:
    """Return what must hold after an event."""
    if event[0] == "malloc":
        return {"addr": event[4], "allocated": event[5], "reserved": event[6]}
    return {"allocated": event[2], "reserved": event[3]} if event[0] == "free" else {}


def compare_ends(game: Any, segments: list[Any]) -> None:
    """Compare the blocks that are handed out at the end with the GPU's."""
    __tracebackhide__ = True
    wanted = [
        (addr, size, state)
        for segment in segments
        for addr, size, _, state in segment["blocks"]
        if state == "active_allocated"
    ]
    actual = [block for block in game.snapshot() if block[2] == "active_allocated"]
    what = ("At the end other blocks are handed out than on the GPU", "最后已交出的块与 GPU 上的不同")
    game.expect.equal(actual, sorted(wanted), what, picture=game.draw())
