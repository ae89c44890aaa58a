"""A race in this problem's words: which stage did not wait, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Pair = tuple[str, str]

LOOK_ORDER: Pair = (
    "Between queueing the first and queueing the second, one stream has to wait for the other: wait_stream, or an "
    "event recorded behind the first.",
    "在排入前者与排入后者之间，要让一个流等另一个流：wait_stream，或者在前者之后记录的事件。",
)

REUSED: tuple[Pair, Pair] = (
    (
        "Device memory got a new owner while a stream may still use it",
        "还有流可能在用，设备内存就换了主人",
    ),
    (
        "The allocator knows only the stream on which a tensor was allocated. Keep the tensor until all three "
        "stages of its chunk are over, or tell the allocator: record_stream.",
        "分配器只认识张量分配时所在的流。要么把张量留到这块的三级全部结束，要么用 record_stream 告诉分配器。",
    ),
)

TOLD: dict[str, tuple[Pair, Pair]] = {
    "host-read-early": (
        ("A result was handed out before its copy out had ended", "结果在拷出结束之前就被交出了"),
        (
            "The host has to wait for an event on the copy-out stream. Is it recorded behind the copy, or before it? "
            "Is it waited for before the yield?",
            "主机要等拷出流上的一个事件。它是在拷贝之后记录的，还是之前？yield 之前等过它吗？",
        ),
    ),
    "host-write-early": (
        (
            "Pinned memory was written again while a copy to the device may still read it",
            "拷往设备的拷贝可能还在读，锁页内存就被重写了",
        ),
        (
            "A staging buffer is free once the copy from it has ended. The caller's own buffers are free once their "
            "result has been handed out: was a chunk taken too early?",
            "中转缓冲区要等从它拷出的那次拷贝结束才空闲。调用者自己的缓冲区，在对应的结果交出之后才空闲：是不是过早取了下一块？",
        ),
    ),
    "reused-block": REUSED,
    "unordered-block": REUSED,
}


def explain_race(races: Sequence[Any]) -> tuple[Pair | None, Pair | None]:
    """Return what the first race broke and what to look at, as far as this problem knows better than the judge."""
    if not races:
        return None, None
    race = races[0]
    if race.kind in TOLD:
        return TOLD[race.kind]
    if race.kind == "read-after-write" and "h2d" in race.first.op:
        return ("compute may read a chunk before it has arrived", "块还没到，compute 就可能去读"), LOOK_ORDER
    if race.kind == "read-after-write" and "d2h" in race.second.op:
        return (
            "The copy out may take along what has not been computed yet",
            "还没算出来，拷出就可能把它拷走",
        ), LOOK_ORDER
    return None, LOOK_ORDER
