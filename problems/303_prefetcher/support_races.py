"""A race in this problem's words: who did not wait for whom, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Pair = tuple[str, str]

REUSED: tuple[Pair, Pair] = (
    (
        "Device memory got a new owner while kernels that use it may still run",
        "还有 kernel 可能在用，设备内存就换了主人",
    ),
    (
        "A dropped block is free in the order of one stream, the one that was current when it was allocated. The "
        "allocator has to be told of every other stream that uses it (record_stream), and a copy on another stream has "
        "to wait for that one before it writes.",
        "丢弃的块只按一个流的次序空闲，就是分配它时的当前流。别的流也用它，就要告诉分配器（record_stream）；"
        "别的流上的拷贝要往里写，就要先等那个流。",
    ),
)

UNREAD: tuple[Pair, Pair] = (
    (
        "The consumer may read a batch before it has arrived",
        "batch 还没到，消费者就可能去读",
    ),
    (
        "The stream that is current at the next() has to wait for the copy, by wait_event or wait_stream, before the "
        "batch is handed out. Is the event recorded behind the copy, on the copy's stream? Or was this a later copy, "
        "into a buffer that the consumer still has?",
        "交出 batch 之前，next() 时的当前流要用 wait_event 或 wait_stream 等这次拷贝。"
        "事件是在拷贝之后、在拷贝的流上记录的吗？还是说，这是后来的一次拷贝，写进了消费者还留着的缓冲区？",
    ),
)

OVERWRITTEN: tuple[Pair, Pair] = (
    (
        "A copy may write into memory that the consumer's stream still uses",
        "消费者的流可能还在用这块内存，拷贝就往里写",
    ),
    (
        "A block that is allocated on the consumer's stream is free in the order of that stream only. What makes the "
        "copy stream wait for it before it writes?",
        "在消费者的流上分配到的块，只有按那个流的次序才是空闲的。写入之前，是什么让拷贝流等它？",
    ),
)

REFILLED: tuple[Pair, Pair] = (
    (
        "Host memory was written again while a copy to the device may still read it",
        "拷往设备的拷贝可能还在读，主机内存就被重写了",
    ),
    (
        "Before batch i + 2 is taken, and when the loop ends, the copy of batch i must have ended: the host has to "
        "wait for its event. A staging buffer of your own is free no earlier, either.",
        "取第 i + 2 个 batch 之前，以及迭代结束时，第 i 个的拷贝必须已经完成：主机要等它的事件。"
        "你自己的中转缓冲区也一样，不能更早重用。",
    ),
)

TOLD: dict[str, tuple[Pair, Pair]] = {
    "host-write-early": REFILLED,
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
    if "h2d" in race.first.op:
        return UNREAD
    if "h2d" in race.second.op:
        return OVERWRITTEN
    return None, None
