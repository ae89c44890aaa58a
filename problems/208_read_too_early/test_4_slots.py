"""Who holds a slot, and for how long; and that there are never more of them."""

from __future__ import annotations

from typing import Any

import torch

FULL = ("Every slot is held by an unread ticket, and yet push() was accepted", "每个槽都有未读的票，push() 却没有拒绝")


def test_an_unread_ticket_keeps_its_slot(desk: Any, device: str, watch: Any) -> None:
    """With every slot held, push() raises MailboxFull, and no ticket loses its bytes.

    zh: 槽都被占着时 push() 抛出 MailboxFull，没有一张票丢失内容。
    """
    box = desk.open(3)
    values = desk.draw_values(3)
    with watch() as seen:
        tickets = [desk.push(box, torch.full((20,), value, device=device)) for value in values]
        for _ in range(2):
            desk.refuse("MailboxFull", box, torch.zeros(20, dtype=torch.int64, device=device), FULL)
        torch.cuda.synchronize()  # landed, but not read
        desk.refuse("MailboxFull", box, torch.zeros(20, dtype=torch.int64, device=device), FULL)
        for number, (ticket, value) in enumerate(zip(tickets, values, strict=True)):
            desk.take(ticket, torch.full((20,), value), number)
    desk.settle(seen)


def test_the_slot_of_a_read_ticket_is_used_next(desk: Any, device: str) -> None:
    """Tickets are read out of order: a push takes the slot that is free, not the one whose turn it is.

    zh: 票不按次序读取：push 用的是空闲的槽，而不是轮到的槽。
    """
    box = desk.open(3)
    values = desk.draw_values(6)
    pushed = [torch.full((20,), value) for value in values]
    tickets = [desk.push(box, tensor.to(device)) for tensor in pushed[:3]]
    for new, old in ((3, 1), (4, 2), (5, 3)):
        desk.take(tickets[old], pushed[old], old)
        tickets.append(desk.push(box, pushed[new].to(device)))
        desk.refuse("MailboxFull", box, pushed[0].to(device), FULL)
    for number in (0, 4, 5):
        desk.take(tickets[number], pushed[number], number)
    desk.settle()


def test_a_dropped_ticket_gives_its_slot_back(desk: Any, device: str) -> None:
    """A ticket that nobody holds any more leaves its slot to the next push.

    zh: 没有人再拿着的票，把槽让给下一次 push。
    """
    box = desk.open(1)
    for _ in range(3):
        desk.push(box, torch.zeros(4, device=device))
    wanted = desk.draw(4)
    desk.read(desk.push(box, wanted.to(device)), wanted)


def test_a_ticket_outlives_its_mailbox(desk: Any, device: str, busy: Any) -> None:
    """The mailbox is dropped before its tickets are read.

    zh: 信箱先被丢掉，票后读取。
    """
    box = desk.open(2)
    values = desk.draw_values(2)
    busy()
    tickets = [desk.push(box, torch.full((8,), value, device=device)) for value in values]
    del box
    kept = torch.zeros(1 << 16, dtype=torch.uint8, pin_memory=True)  # takes what has been given back, if anything
    for number, (ticket, value) in enumerate(zip(tickets, values, strict=True)):
        desk.take(ticket, torch.full((8,), value), number)
    desk.settle()
    del kept


def test_pinned_memory_is_bounded(desk: Any, device: str, expect: Any, pinned_use: Any) -> None:
    """However many results come and are kept, only the slots are pinned.

    zh: 不论来了多少结果、留下多少，锁页的只有槽。
    """
    slots, slot_bytes = 2, 1 << 16

    def fill() -> None:
        box = desk.open(slots, slot_bytes)
        kept = []
        for number, value in enumerate(desk.draw_values(12)):
            wanted = torch.full((slot_bytes // 8,), value)
            kept.append(desk.take(desk.push(box, wanted.to(device)), wanted, number))
        desk.settle()

    used = pinned_use(fill).peak_bytes
    expect.true(
        used <= slots * slot_bytes,
        ("More memory is pinned than the slots", "锁页内存超过了槽的大小"),
        (
            "Does each push pin a buffer of its own, or is each result pinned? Pinned memory is taken from the whole "
            "machine, and to pin it is slow.",
            "是不是每次 push 都新锁一块，或者每个结果都是锁页的？锁页内存占的是整台机器的，而且锁页很慢。",
        ),
        expected=f"at most {slots * slot_bytes} bytes",
        actual=f"{used} bytes",
    )


def test_a_read_ticket_holds_nothing(desk: Any, device: str, expect: Any, pinned_use: Any) -> None:
    """Tickets that have been read are kept, and yet the pushed tensors are freed, and with the mailbox the slots.

    zh: 读过的票还留着，推入的张量却已释放；信箱没了，槽也就没了。
    """
    before = torch.cuda.memory_allocated()
    tickets: list[Any] = []

    def use() -> None:
        box = desk.open(2)
        for number in range(4):
            wanted = desk.draw(64, 32)
            tickets.append(desk.push(box, wanted.to(device)))
            desk.take(tickets[-1], wanted, number)
        desk.settle()

    pinned = pinned_use(use).left_bytes
    expect.equal(
        {"device": torch.cuda.memory_allocated() - before, "pinned": pinned},
        {"device": 0, "pinned": 0},
        ("Tickets that have been read still hold memory", "读过的票还占着内存"),
        ("What does a ticket refer to once its bytes are on the host?", "字节取到主机之后，票还引用着什么？"),
    )
