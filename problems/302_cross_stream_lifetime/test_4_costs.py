"""What safety may cost: no wait of the host, and no memory that is held for longer than it is read."""

from __future__ import annotations

from typing import Any

import pytest
import torch

WIDTH = 1 << 12
COUNT = 8
SLACK_BYTES = 64 << 10
PARTS = ["blocks", "logprobs"]
"""save, fetch and place; and the method that the stub lacks."""

LOOK_WAITS = (
    "The host only queues. Where work must come behind other work, let the stream wait: wait_event or wait_stream.",
    "主机只负责入队。一项工作必须排在另一项之后时，让流去等：wait_event 或 wait_stream。",
)

LOOK_HELD = (
    "Who still refers to what was copied: a list, a field, the object that was returned? A block that the allocator "
    "knows the users of may be dropped at once.",
    "谁还在引用拷过的张量：列表、字段，还是返回的对象？只要分配器知道一块内存有哪些使用者，就可以立即丢掉它。",
)


def run_round(yard: Any, part: str, rows: int, step: int) -> Any:
    """Call the methods of a part once each, and return what a caller keeps of it: a result that nobody has read."""
    if part == "logprobs":
        logits = torch.full((rows, WIDTH), float(step), device="cuda")
        return yard.call("logprobs", logits, torch.zeros(rows, dtype=torch.int64, device="cuda"))
    blocks = list(range(rows))
    saved = yard.save(blocks)
    yard.place(yard.call("fetch", saved), blocks, yard.model[blocks])
    return saved


def find_wanted(yard: Any, part: str, rows: int) -> Any:
    """Return what a round's result should be."""
    if part == "logprobs":
        return torch.full((rows,), WIDTH, dtype=torch.float64).log().neg().float()
    return yard.model[:rows].clone()


@pytest.mark.weight(2)
@pytest.mark.budget(syncs=0)
@pytest.mark.parametrize("part", PARTS)
def test_the_host_never_waits(yard: Any, watch: Any, expect: Any, measure: Any, busy: Any, part: str) -> None:
    """The lane and the caller's stream are busy, and each method returns at once.

    zh: 侧边的流和调用者的流都在忙，而每个方法都立即返回。
    """
    lane = yard.open(WIDTH)
    run_round(yard, part, 4, 0)  # loads kernels, and sets pinned memory up
    torch.cuda.synchronize()
    with watch() as seen:
        for stream in (lane.out, lane.back, None):
            busy(stream)
        kept = [run_round(yard, part, 4, step) for step in range(3)]
    measure("syncs", len(seen.syncs), "", places=seen.places, look=LOOK_WAITS)
    expect.waits(seen, most=0, look=LOOK_WAITS)
    for number, copy in enumerate(kept):
        yard.take(copy, find_wanted(yard, part, 4), f"{part} {number}")
    yard.settle(seen)
    yard.check_cache()


@pytest.mark.weight(2)
@pytest.mark.budget(memory_bytes=SLACK_BYTES)
@pytest.mark.parametrize("part", PARTS)
def test_device_memory_returns_to_its_floor(yard: Any, measure: Any, expect: Any, part: str) -> None:
    """After many calls and one small one, nothing of the many is held on the device, though their results are kept.

    zh: 许多次调用之后再来一次小的，设备上就不再占着前面那些的任何内存，尽管它们的结果都留着。
    """
    yard.open(WIDTH)
    run_round(yard, part, 1, 0)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    kept = [run_round(yard, part, 8, step) for step in range(COUNT)]
    torch.cuda.synchronize()
    last = run_round(yard, part, 0, 0)  # a lane that keeps references until they are over may look now
    held = max(0, torch.cuda.memory_allocated() - before)
    measure("memory_bytes", held, "B", look=LOOK_HELD)
    yard.take(kept[-1], find_wanted(yard, part, 8), f"{part} {COUNT - 1}")
    yard.settle()
    expect.true(
        held <= SLACK_BYTES,
        ("Device memory is held after its last use", "最后一次使用之后，设备内存还被占着"),
        LOOK_HELD,
        expected=f"≤ {SLACK_BYTES}",
        actual=held,
    )
    del last
