"""Three traces of the real allocator on an H200 under a cap of 400 MiB, replayed decision by decision.

Where they come from stands in ``goldens/README.md``. If a malloc makes a segment, its block lies at the segment's
base: so the GPU of the tests places a new segment where the recorded block lies.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parent / "goldens" / "alloc_oom.json.gz"


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    """Return the cap and all traces."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.weight(3)
@pytest.mark.parametrize("number", range(3), ids=["trace 1", "trace 2", "trace 3"])
def test_every_decision_is_the_real_gpus(play: Callable[..., Any], golden: dict[str, Any], number: int) -> None:
    """Each malloc and free of the recorded trace ends as it did on the H200, refusals included.

    zh: 录制轨迹中的每次 malloc 与 free 都与 H200 上的结果一致，包括被拒绝的。
    """
    game = play(total=golden["total"], limit=golden["cap"])
    blocks: dict[int, Any] = {}
    for at, event in enumerate(golden["traces"][number]["events"], 1):
        place = (f"Event {at} of trace {number + 1}, after", f"轨迹 {number + 1} 的第 {at} 个事件，执行")
        if event[0] == "malloc":
            game.gpu.next_base = event[4]
            blocks[event[1]] = game.malloc(event[2], event[3])
            game.check(place=place, reserved=event[6], addr=event[4], allocated=event[5])
        elif event[0] == "oom":
            game.refuse(event[2], event[3], with_report=True)
            game.check(place=place, reserved=event[5], allocated=event[4])
        else:
            game.free(blocks.pop(event[1]))
            game.check(place=place, reserved=event[3], allocated=event[2])
    game.record()
