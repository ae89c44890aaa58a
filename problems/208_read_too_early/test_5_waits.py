"""Where the host waits: once for each ticket, in its first read()."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

COUNT = 4

LOOK_COPY = (
    "Only into pinned memory, and with non_blocking=True, is a copy queued. Into pageable memory it holds the host, "
    "whatever is asked for.",
    "只有目标是锁页内存、又写了 non_blocking=True，拷贝才只是排队。拷到可换页内存，不论怎么写都会占住主机。",
)
LOOK_EVENT = (
    "push() only queues. Where a copy must come behind another, let the stream wait for an event: the host goes on.",
    "push() 只负责排队。一次拷贝必须排在另一次之后时，可以让流去等事件，主机照常往下走。",
)

KINDS: dict[str, Callable[[Tensor], Tensor]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.t(),
    "columns": lambda x: x[:, 1:7],
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_push_never_waits(desk: Any, device: str, watch: Any, expect: Any, busy: Any, kind: str) -> None:
    """Pushing queues, also a tensor that is not contiguous, and also into slots that were used before.

    zh: push 只是排队，不连续的张量、用过的槽也一样。
    """
    make = KINDS[kind]
    box = desk.open(COUNT)
    for turn in range(2):
        wanted = [desk.draw(16, 8) for _ in range(COUNT)]
        sources = [tensor.to(device) for tensor in wanted]
        busy()
        with watch() as seen:
            tickets = [desk.push(box, make(source)) for source in sources]
        expect.waits(
            seen,
            most=0,
            what=("push() made the host wait", "push() 让主机等待了"),
            look=LOOK_EVENT if any("synchronize" in sync.kind for sync in seen.syncs) else LOOK_COPY,
        )
        for number, (ticket, tensor) in enumerate(zip(tickets, wanted, strict=True)):
            desk.take(ticket, make(tensor).contiguous(), number + turn * COUNT)
    desk.settle()


@pytest.mark.weight(2)
@pytest.mark.budget(syncs=COUNT)
def test_one_wait_a_ticket(desk: Any, device: str, watch: Any, expect: Any, measure: Any, busy: Any) -> None:
    """Each ticket is read twice, and the host waits once for each.

    zh: 每张票读两次，主机只等一次。
    """
    box = desk.open(2)
    look = (
        "push() never waits, and read() once, for its own event: the second time the result is there.",
        "push() 从不等待；read() 只等一次，等自己的事件：第二次读时结果已经在了。",
    )
    with watch() as seen:
        for number, value in enumerate(desk.draw_values(COUNT)):
            busy()
            ticket = desk.push(box, torch.full((16,), value, device=device))
            for _ in range(2):
                desk.take(ticket, torch.full((16,), value), number)
    desk.settle(seen)
    measure("syncs", len(seen.syncs), "", places=seen.places, look=look)
    expect.waits(seen, most=COUNT, look=look)
