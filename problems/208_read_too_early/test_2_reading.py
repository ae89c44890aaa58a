"""When the host may read: behind the copy, and not behind anything else."""

from __future__ import annotations

from typing import Any

import pytest
import torch


def test_a_read_waits_for_its_copy(desk: Any, device: str, watch: Any, busy: Any) -> None:
    """The device is busy when a tensor is pushed and read at once, and the new bytes come.

    zh: 设备正忙时推入并立即读取，读到的是新的内容。
    """
    box = desk.open(2)
    with watch() as seen:
        for number, value in enumerate(desk.draw_values(4)):
            busy()
            ticket = desk.push(box, torch.full((64,), value, device=device))
            desk.take(ticket, torch.full((64,), value), number)
    desk.settle(seen)


def test_never_yesterdays_tokens(desk: Any, device: str, watch: Any, busy: Any) -> None:
    """A decode loop writes each step's tokens into the same tensor, and reads a step behind.

    zh: 解码循环每一步都把 token 写进同一个张量，读取时落后一步。
    """
    box = desk.open(2)
    tokens = torch.zeros(256, dtype=torch.int64, device=device)
    values = desk.draw_values(8)
    before = None
    with watch() as seen:
        for number, value in enumerate(values):
            busy()
            tokens.fill_(value)
            ticket = desk.push(box, tokens)
            if before is not None:
                desk.take(before, torch.full((256,), values[number - 1]), number - 1)
            before = ticket
        desk.take(before, torch.full((256,), values[-1]), len(values) - 1)
    desk.settle(seen)


@pytest.mark.parametrize("where", ["the_same_stream", "another_stream"])
def test_a_read_does_not_wait_for_later_work(
    desk: Any, device: str, expect: Any, busy: Any, side_stream: Any, where: str
) -> None:
    """Long work is queued after the push; a read returns before it has ended.

    zh: push 之后又排入很长的工作；read() 在它结束之前就返回。
    """
    box = desk.open(3)
    values = desk.draw_values(2)
    stream = torch.cuda.current_stream() if where == "the_same_stream" else side_stream
    last = torch.zeros(9, device=device)
    torch.cuda.synchronize()
    tickets = [desk.push(box, torch.full((9,), value, device=device)) for value in values]
    with torch.cuda.stream(stream):
        busy(50)
        later = desk.push(box, last)
        done = stream.record_event()
    for number, (ticket, value) in enumerate(zip(tickets, values, strict=True)):
        desk.take(ticket, torch.full((9,), value), number)
    is_over = done.query()
    desk.take(later, torch.zeros(9), 2)
    desk.settle()
    expect.true(
        not is_over,
        ("read() waited for work that was queued after the push", "read() 等了 push 之后才排入的工作"),
        (
            "A stream's or the device's synchronize() waits for all that is queued there by now; so does an event "
            "that a later push records again. One copy can be waited for by an event of its own.",
            "流或设备的 synchronize() 等的是那里此刻排着的全部工作；被后来的 push 重新记录的事件也是如此。"
            "只等一次拷贝，要用它自己的事件。",
        ),
        expected="read() returns while the later work runs",
        actual="the later work was over",
    )


def test_ready_tells_the_truth(desk: Any, device: str, expect: Any, busy: Any) -> None:
    """ready() is False while the copy has to run, True once it has, whatever was queued behind it.

    zh: 拷贝还没执行完时 ready() 为 False，执行完就为 True，不论后面又排了什么。
    """
    box = desk.open(2)
    first, second = (torch.full((5,), value, device=device) for value in desk.draw_values(2))
    wanted = first.cpu(), second.cpu()
    early = desk.push(box, first)
    torch.cuda.synchronize()
    busy(20)
    late = desk.push(box, second)
    answers = {"landed": desk.ready(early), "under way": desk.ready(late)}
    desk.read(late, wanted[1], 1)
    answers["read"] = desk.ready(late)
    desk.read(early, wanted[0], 0)
    expect.equal(
        answers,
        {"landed": True, "under way": False, "read": True},
        ("ready() does not tell whether the bytes are there", "ready() 没有如实回答字节到了没有"),
        (
            "An event can be asked without waiting: query(). A stream's query() asks for all that is queued there; "
            "ready() is about one copy.",
            "事件可以只问不等：query()。流的 query() 问的是那里排着的全部工作；ready() 只问一次拷贝。",
        ),
    )


def test_ready_is_enough(desk: Any, device: str, watch: Any, busy: Any, expect: Any) -> None:
    """Once ready() has said True, a read gets the bytes, and asking has never made the host wait.

    zh: ready() 说了 True，读到的就是对的；而询问从不让主机等待。
    """
    box = desk.open(1)
    first, second = desk.draw_values(2)
    busy()
    ticket = desk.push(box, torch.full((33,), first, device=device))
    with watch() as asked:
        while not desk.ready(ticket):
            pass
    desk.take(ticket, torch.full((33,), first), 0)
    expect.waits(asked, most=0, what=("ready() made the host wait", "ready() 让主机等待了"))
    with watch() as seen:
        busy()
        ticket = desk.push(box, torch.full((33,), second, device=device))
        while not desk.ready(ticket):
            pass
        desk.take(ticket, torch.full((33,), second), 1)
    desk.settle(seen)
