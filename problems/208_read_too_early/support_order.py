"""A race in this problem's words: what was read or written too early, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Pair = tuple[str, str]

READ_EARLY: tuple[Pair, Pair] = (
    ("The host read a slot before the copy into it had ended", "拷贝还没结束，主机就读了槽"),
    (
        "Which event does read() wait for? Was it recorded behind the copy, on the stream of the copy? An event that "
        "was recorded before it, or elsewhere, says nothing about the copy.",
        "read() 等的是哪个事件？它是在拷贝之后、在拷贝所在的流上记录的吗？"
        "在拷贝之前或在别的流上记录的事件，说明不了这次拷贝。",
    ),
)

REUSED: tuple[Pair, Pair] = (
    (
        "The tensor's memory got a new owner while the copy may still read it",
        "拷贝可能还在读，张量的内存就换了主人",
    ),
    (
        "After push() the caller may drop the tensor, and its memory is lent again on the stream where it was "
        "allocated. Is the copy on another stream? The allocator knows nothing of it: record_stream, or copy on the "
        "caller's stream.",
        "push() 之后调用者可以丢掉张量，它的内存会在分配时所在的流上再次借出。拷贝是不是在另一个流上？"
        "分配器并不知道：要么 record_stream，要么就在调用者的流上拷贝。",
    ),
)

OVERWRITTEN: tuple[Pair, Pair] = (
    (
        "The caller overwrote the tensor while the copy may still be reading it",
        "拷贝可能还在读，调用者就改写了张量",
    ),
    (
        "After push() the tensor is the caller's again, who overwrites it on the stream of the push. What keeps that "
        "behind the copy, if the copy runs on another stream?",
        "push() 之后张量又归调用者所有，它会在 push 时的流上改写。如果拷贝在另一个流上，靠什么保证改写在拷贝之后？",
    ),
)

TWO_WRITERS: tuple[Pair, Pair] = (
    ("Two copies into the same slot have no order between them", "写入同一个槽的两次拷贝之间没有先后"),
    (
        "A ticket that is dropped unread gives its slot back, but its copy may still have to run, on another stream. "
        "Who waits for it? A stream can wait for an event, and the host goes on.",
        "没读就丢掉的票会交还槽，但它的拷贝可能还没执行，而且在另一个流上。谁来等它？流可以等事件，主机照常往下走。",
    ),
)

NOT_COMPUTED: tuple[Pair, Pair] = (
    ("The copy may run before what it copies has been computed", "要拷的数据还没算出来，拷贝就可能开始"),
    (
        "The copy comes behind the work of the stream that is current at push(). On which stream is it queued, and "
        "what does that stream wait for?",
        "拷贝要排在 push() 时当前流的工作之后。它排进了哪个流？那个流等了什么？",
    ),
)


def explain_race(races: Sequence[Any]) -> tuple[Pair | None, Pair | None]:
    """Return what the first race broke and what to look at, as far as this problem knows better than the judge."""
    if not races:
        return None, None
    race = races[0]
    told = {"host-read-early": READ_EARLY, "reused-block": REUSED, "unordered-block": REUSED}
    if race.kind in told:
        return told[race.kind]
    if race.kind == "write-after-write" and "d2h" in race.first.op and "d2h" in race.second.op:
        return TWO_WRITERS
    if race.kind == "write-after-read" and "d2h" in race.first.op:
        return OVERWRITTEN
    if race.kind == "read-after-write" and "d2h" in race.second.op:
        return NOT_COMPUTED
    return None, None
