"""The stream that is current at push() counts, and the tensor is the caller's again at once."""

from __future__ import annotations

from typing import Any

import torch


def test_the_stream_of_the_push_counts(desk: Any, device: str, watch: Any, busy: Any, side_stream: Any) -> None:
    """The producer works on a stream of its own, not on the one on which the mailbox was made.

    zh: 生产者在自己的流上工作，而不是创建信箱时的那个流。
    """
    box = desk.open(2)
    with watch() as seen:
        for number, value in enumerate(desk.draw_values(4)):
            with torch.cuda.stream(side_stream):
                busy()
                ticket = desk.push(box, torch.full((64,), value, device=device))
            desk.take(ticket, torch.full((64,), value), number)
    desk.settle(seen)


def test_tickets_of_two_streams_in_any_order(
    desk: Any, device: str, watch: Any, busy: Any, side_stream: Any, rng: Any
) -> None:
    """Two producers push in turn; the tickets are read in any order.

    zh: 两个生产者轮流推入，票以任意次序读取。
    """
    streams = [torch.cuda.current_stream(), side_stream]
    box = desk.open(6)
    with watch() as seen:
        for _ in range(2):
            tickets = []
            for number, value in enumerate(desk.draw_values(6)):
                with torch.cuda.stream(streams[number % 2]):
                    busy()
                    tickets.append((desk.push(box, torch.full((40,), value, device=device)), value, number))
            rng.shuffle(tickets)
            for ticket, value, number in tickets:
                desk.take(ticket, torch.full((40,), value), number)
    desk.settle(seen)


def test_the_tensor_may_be_overwritten_at_once(desk: Any, device: str, watch: Any, busy: Any, side_stream: Any) -> None:
    """Right after the push the caller overwrites the tensor, on the same stream.

    zh: push 之后，调用者立即在同一个流上改写张量。
    """
    box = desk.open(3)
    values = desk.draw_values(3)
    with torch.cuda.stream(side_stream), watch() as seen:
        output = torch.zeros(1 << 12, device=device)
        tickets = []
        for value in values:
            busy()
            output.fill_(value)
            tickets.append(desk.push(box, output))
            output.fill_(-1)
        for number, (ticket, value) in enumerate(zip(tickets, values, strict=True)):
            desk.take(ticket, torch.full((1 << 12,), float(value)), number)
    desk.settle(seen)


def test_the_tensor_may_be_dropped_at_once(desk: Any, device: str, watch: Any, busy: Any) -> None:
    """Right after the push the caller drops the tensor, and its memory is used again.

    zh: push 之后，调用者立即丢掉张量，它的内存又被用上。
    """
    box = desk.open(4)
    values = desk.draw_values(4)
    with watch() as seen:
        tickets = []
        for value in values:
            busy()
            tickets.append(desk.push(box, torch.full((1 << 12,), float(value), device=device)))
            torch.full((1 << 12,), -1.0, device=device)
        for number, (ticket, value) in enumerate(zip(tickets, values, strict=True)):
            desk.take(ticket, torch.full((1 << 12,), float(value)), number)
    desk.settle(seen)


def test_a_dropped_tickets_copy_comes_first(desk: Any, device: str, watch: Any, busy: Any, side_stream: Any) -> None:
    """A ticket is dropped while its copy has still to run; another stream pushes into the same slot.

    zh: 票丢掉时它的拷贝还没执行；另一个流又推入同一个槽。
    """
    box = desk.open(1)
    first, second = (torch.full((64,), value, device=device) for value in desk.draw_values(2))
    wanted = second.cpu()
    torch.cuda.synchronize()
    with watch() as seen:
        busy(3)
        desk.push(box, first)  # nobody keeps the ticket
        with torch.cuda.stream(side_stream):
            ticket = desk.push(box, second)
        torch.cuda.synchronize()  # a copy that comes too late has come by now
        desk.take(ticket, wanted)
    desk.settle(seen)
