"""A race in this problem's words: what was read or written too early, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Pair = tuple[str, str]

EARLY: tuple[Pair, Pair] = (
    (
        "The host read a step's results before they had landed, or while the next step's landed there",
        "某一步的结果还没落地，或者下一步的结果正落在同一处，主机就去读了",
    ),
    (
        "An event says that what stood before it in its stream is over. Is it recorded behind both copies, on the "
        "stream of the copies? And does the step that is queued by then copy to the same memory?",
        "事件说明的是：它所在的流里，排在它前面的都做完了。它是在两次拷贝之后、在拷贝所在的流上记录的吗？"
        "这时已经排入的下一步，是不是也拷到同一块内存？",
    ),
)

OVERWRITTEN: tuple[Pair, Pair] = (
    (
        "The next step may overwrite the model's tensors while they are still being copied",
        "模型的张量可能还在拷贝，下一步就改写了它们",
    ),
    (
        "step() returns the same two tensors each time. Are the copies on another stream than the steps? Then the "
        "next step has to wait for them; on the same stream it does so by itself.",
        "step() 每次返回的是同样两个张量。拷贝和各步是不是在不同的流上？那么下一步必须等拷贝；在同一个流上则天然有序。",
    ),
)

NOT_COMPUTED: tuple[Pair, Pair] = (
    ("A copy may run before the step that computes what it copies", "某次拷贝可能在算出结果的那一步之前就执行"),
    (
        "The model works on the stream that is current when decode() is called. On which stream is the copy, and what "
        "does that one wait for?",
        "模型在调用 decode() 时的当前流上工作。拷贝在哪个流上？那个流等了什么？",
    ),
)


def explain_race(races: Sequence[Any]) -> tuple[Pair | None, Pair | None]:
    """Return what the first race broke and what to look at, as far as this problem knows better than the judge."""
    if not races:
        return None, None
    race = races[0]
    if race.kind.startswith("host-"):
        return EARLY
    if race.kind == "write-after-read" and "d2h" in race.first.op:
        return OVERWRITTEN
    if race.kind == "read-after-write" and "d2h" in race.second.op:
        return NOT_COMPUTED
    return None, None
