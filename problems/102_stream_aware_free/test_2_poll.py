"""How a malloc looks for complete events: all streams, each in order, and never by waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MIB = 1 << 20


def leave_waiting(game: Any, stream: int, count: int, size: int = 4096) -> list[Any]:
    """Free ``count`` blocks that a kernel of ``stream`` each still uses."""
    blocks = [game.malloc(size) for _ in range(count)]
    for block in blocks:
        game.call("record_stream", block, stream)
        game.launch(stream, block, "read")
        game.call("free", block)
    return blocks


def test_any_malloc_polls(play: Callable[..., Any]) -> None:
    """A malloc for another stream and of another pool finds complete events too, even if it has a block already.

    zh: 哪怕是另一个流、另一个池的 malloc，哪怕它已有块可用，也会发现已完成的事件。
    """
    game = play()
    game.call("free", game.malloc(3 * MIB, 7))
    block = leave_waiting(game, 1, 1)[0]
    game.device.finish(1)
    game.malloc(3 * MIB, 7)
    look = (
        "Does every malloc() poll first, whatever it is asked for?",
        "是不是每次 malloc() 都先轮询，不论要的是什么？",
    )
    game.check(look, active=3 * MIB)
    game.malloc(4096)
    game.check(look, addr=block.addr)
    game.record()


def test_the_poll_comes_before_the_search(play: Callable[..., Any]) -> None:
    """A block that has just become free merges with its neighbours and takes part in the choice of this malloc.

    zh: 刚刚变为空闲的块先与邻居合并，并参加这一次 malloc 的选择。
    """
    game = play()
    first, second = game.malloc(4096), game.malloc(4096)
    game.malloc(512)
    game.call("record_stream", first, 1)
    game.launch(1, first)
    game.call("free", first)
    game.call("free", second)
    game.device.finish(1)
    look = ("Was the search over before the poll began?", "是不是先查找、后轮询？")
    game.malloc(8192)
    game.check(look, addr=0)
    game.record()


@pytest.mark.parametrize("name", ["free", "record_stream"])
def test_only_malloc_polls(play: Callable[..., Any], name: str) -> None:
    """Calls of free and record_stream ask no event: what has become free stays active until the next malloc.

    zh: free 与 record_stream 不询问事件：已经完成的块在下一次 malloc 之前仍算 active。
    """
    game = play()
    kept = game.malloc(512)
    leave_waiting(game, 1, 2)
    game.device.finish(1)
    asked = len(game.device.queries)
    game.call(name, *((kept,) if name == "free" else (kept, 1)))
    look = (
        "Events are asked by malloc() alone: free() must cost next to nothing.",
        "只有 malloc() 才询问事件：free() 要几乎不花时间。",
    )
    game.check(look, active=2 * 4096 + (512 if name == "record_stream" else 0))
    what = (f"{name}() called query()", f"{name}() 调用了 query()")
    game.expect.equal(len(game.device.queries) - asked, 0, what, look)
    game.record()


def test_a_pending_stream_is_asked_once(play: Callable[..., Any], rng: Any) -> None:
    """Of each stream a malloc asks up to the first event that is not complete, and none behind it.

    zh: 对每个流，malloc 问到第一个未完成的事件为止，后面的不问。
    """
    game = play()
    for stream in (1, 2, 3):
        leave_waiting(game, stream, 40)
    for _ in range(5):
        done = {stream: rng.randrange(4) for stream in (1, 2, 3)}
        for stream, count in done.items():
            game.device.finish(stream, count)
        game.device.queries.clear()
        game.malloc(512, 9)
        wanted = {stream: [True] * count + [False] for stream, count in done.items()}
        asked = {stream: [answer for at, answer in game.device.queries if at == stream] for stream in wanted}
        what = (
            "The answers of query() by stream in one malloc() are others than expected",
            "一次 malloc() 中各流 query() 得到的答复与预期不符",
        )
        look = (
            "A stream works in order: behind a pending event all are pending. One that is complete is struck off.",
            "流按顺序执行：一个事件未完成，它后面的都未完成。已完成的事件要划掉。",
        )
        game.expect.equal(asked, wanted, what, look, game.draw())
    game.record()


def test_one_stream_does_not_hold_up_another(play: Callable[..., Any]) -> None:
    """Events of a stream that is done are found, though an older event of another stream is still pending.

    zh: 即使另一个流上更早的事件还没完成，已完成的流上的事件也能被发现。
    """
    game = play()
    leave_waiting(game, 1, 1)
    block = leave_waiting(game, 2, 1)[0]
    game.device.finish(2)
    look = ("Is there one queue for all streams?", "是不是所有流共用一个队列？")
    game.malloc(4096)
    game.check(look, addr=block.addr, active=2 * 4096)
    game.record()


def test_a_complete_prefix_is_given_back(play: Callable[..., Any]) -> None:
    """When a stream has come half way, the blocks of the first half are free, and the others wait on.

    zh: 流走到一半，前一半的块变为空闲，后一半继续等。
    """
    game = play()
    blocks = leave_waiting(game, 1, 6)
    game.device.finish(1, 3)
    game.malloc(3 * 4096)
    game.check(addr=0, active=6 * 4096)
    waiting = [(block.addr, block.size, "active_pending_free") for block in blocks[3:]]
    what = ("Other blocks wait than those behind the first pending event", "还在等的块不是第一个未完成事件之后的那些")
    game.expect.equal(game.snapshot()[1:], waiting, what, picture=game.draw())
    game.record()


@pytest.mark.budget(syncs=0)
def test_the_host_never_waits_while_memory_is_left(play: Callable[..., Any], measure: Any, rng: Any) -> None:
    """With memory left, no call waits for the device, however long its queues are.

    zh: 只要还有显存，任何调用都不等设备，不论队列有多长。
    """
    game = play()
    waits = 0
    for _ in range(30):
        for stream in (1, 2):
            leave_waiting(game, stream, rng.randrange(3), size=rng.choice((4096, 3 * MIB)))
            game.device.finish(stream, rng.randrange(2))
        waits += sum(len(decision.get("waits", ())) for decision in game.decisions if isinstance(decision, dict))
    measure(
        "syncs",
        waits,
        look=(
            "malloc() asks with query() and takes a new segment; synchronize() comes only after a refusal.",
            "malloc() 只用 query() 询问，然后要新段；synchronize() 只在被拒绝之后才用。",
        ),
    )
    game.record()
