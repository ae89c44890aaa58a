"""What record_stream and free do: which blocks wait, for whom, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MIB = 1 << 20


def test_a_block_without_other_streams_is_free_at_once(play: Callable[..., Any]) -> None:
    """Nobody recorded a stream: the block can be had again at once, and no event is recorded.

    zh: 没有登记过别的流：块立即可以再次分配，也不录制事件。
    """
    game = play()
    block = game.malloc(1000)
    game.launch(0, block)
    game.call("free", block)
    game.check(allocated=0, active=0, events=[], waits=[])
    game.malloc(600)
    game.check(addr=block.addr, reserved=2 * MIB)
    game.record()


def test_a_block_that_another_stream_uses_waits(play: Callable[..., Any]) -> None:
    """A freed block is not handed out while a recorded stream may still use it.

    zh: 登记过的流可能还在用时，已释放的块不会再交出去。
    """
    game = play()
    block = game.malloc(3 * MIB)
    game.call("record_stream", block, 1)
    game.launch(1, block, "read")
    game.call("free", block)
    game.check(allocated=0, active=3 * MIB, events=[1], waits=[])
    waits = [(block.addr, block.size, "active_pending_free")]
    what = ("A freed block that waits must stand in snapshot()", "还在等的块应当出现在 snapshot() 里")
    game.expect.equal(game.snapshot(), waits, what, picture=game.draw())
    game.malloc(3 * MIB)
    game.check(addr=3 * MIB, active=6 * MIB)
    game.device.finish(1)
    game.malloc(3 * MIB)
    game.check(addr=0, allocated=6 * MIB, active=6 * MIB, reserved=20 * MIB)
    game.record()


def test_the_event_lies_behind_the_last_use(play: Callable[..., Any]) -> None:
    """Work that is queued between record_stream and free is covered too: the event is recorded when it is freed.

    zh: record_stream 与 free 之间入队的工作也算在内：事件在释放时录制。
    """
    game = play()
    block = game.malloc(4096)
    game.call("record_stream", block, 1)
    game.check(events=[])
    game.launch(1, block, "late read")
    game.call("free", block)
    look = (
        "When is the event recorded? It must lie behind everything that was queued until free().",
        "事件是什么时候录制的？它必须排在 free() 之前入队的一切之后。",
    )
    game.check(look, events=[1])
    game.malloc(4096)
    game.check(look, addr=4096)
    game.device.finish(1)
    game.malloc(4096)
    game.check(addr=0)
    game.record()


def test_later_work_does_not_hold_a_block(play: Callable[..., Any]) -> None:
    """What is queued on a recorded stream after free has nothing to do with the block.

    zh: 释放之后才在该流上入队的工作与这个块无关。
    """
    game = play()
    block = game.malloc(4096)
    game.call("record_stream", block, 1)
    game.launch(1, block, "read")
    game.call("free", block)
    game.device.launch(1, "other work")
    game.device.finish(1, 1)
    look = (
        "The event recorded by free() is complete: is a newer one asked, or the whole stream?",
        "free() 录制的事件已完成：是不是问了更新的事件，或者整个流？",
    )
    game.malloc(4096)
    game.check(look, addr=block.addr)
    game.record()


def test_the_own_stream_needs_no_event(play: Callable[..., Any]) -> None:
    """To record the block's own stream changes nothing: its next owner works behind what is queued there.

    zh: 登记块自己的流没有任何作用：下一个主人的工作本来就排在它后面。
    """
    game = play()
    block = game.malloc(4096, 2)
    game.call("record_stream", block, 2)
    game.launch(2, block)
    game.call("free", block)
    look = ("To which stream was the block given?", "这个块当初是分给哪个流的？")
    game.check(look, active=0, events=[])
    game.malloc(4096, 2)
    game.check(look, addr=block.addr)
    game.record()


def test_the_default_stream_is_recorded_as_any_other(play: Callable[..., Any]) -> None:
    """Stream 0 counts: a block of stream 3 that is used on stream 0 waits for stream 0.

    zh: 0 号流也算：3 号流的块若在 0 号流上使用，就要等 0 号流。
    """
    game = play()
    block = game.malloc(4096, 3)
    game.call("record_stream", block, 0)
    game.launch(0, block)
    game.call("free", block)
    game.check(("Is stream 0 taken for none?", "是不是把 0 号流当成了“没有”？"), active=4096, events=[0])
    game.malloc(4096, 3)
    game.check(addr=4096 + block.addr)
    game.record()


def test_a_stream_recorded_twice_counts_once(play: Callable[..., Any]) -> None:
    """However often a stream is recorded, the block waits for one event on it.

    zh: 同一个流登记多少次，也只等它上面的一个事件。
    """
    game = play()
    block = game.malloc(4096)
    for _ in range(3):
        game.call("record_stream", block, 1)
        game.launch(1, block)
    game.call("free", block)
    game.check(events=[1])
    game.device.finish(1)
    game.malloc(4096)
    game.check(addr=0)
    game.record()


def test_a_block_waits_for_all_its_streams(play: Callable[..., Any], rng: Any) -> None:
    """With several recorded streams the block is free when the last of them is done, in whatever order.

    zh: 登记了几个流，就要等到最后一个完成，与先后次序无关。
    """
    game = play()
    for _ in range(4):
        block = game.malloc(4096)
        streams = rng.sample(range(1, 6), 3)
        for stream in streams:
            game.call("record_stream", block, stream)
            game.launch(stream, block, "read")
        game.call("free", block)
        game.check(events=sorted(streams))
        rng.shuffle(streams)
        look = (
            "Is every recorded stream remembered, and counted down one by one?",
            "登记过的每个流都记住了吗？是逐个扣减的吗？",
        )
        for stream in streams:
            other = game.malloc(4096)
            game.check(look, addr=4096)
            game.call("free", other)
            game.device.finish(stream)
        other = game.malloc(4096)
        game.check(look, addr=0, active=4096)
        game.call("free", other)
    game.record()


def test_the_next_owner_starts_without_streams(play: Callable[..., Any]) -> None:
    """What was recorded for a block is over with it: its next owner waits for nobody.

    zh: 登记随块的释放而结束：下一个主人不必等任何流。
    """
    game = play()
    block = game.malloc(4096)
    game.call("record_stream", block, 1)
    game.call("free", block)
    again = game.malloc(4096)
    game.check(addr=block.addr)
    game.launch(1, again)
    game.call("free", again)
    look = (
        "Are recorded streams kept by address, and found again by the next owner?",
        "登记的流是不是按地址存着，又被下一个主人看到了？",
    )
    game.check(look, active=0, events=[])
    game.record()


def test_what_is_not_handed_out_is_refused(play: Callable[..., Any], solution: Any) -> None:
    """Neither free nor record_stream takes a block that waits, that is free, or that never was.

    zh: 对还在等的块、空闲的块、从未分配的块，free 与 record_stream 都应拒绝。
    """
    game = play()
    waiting, freed = game.malloc(4096), game.malloc(512)
    game.call("record_stream", waiting, 1)
    game.launch(1, waiting)
    game.call("free", waiting)
    game.call("free", freed)
    for block in (waiting, freed, solution.Block(1 << 30, 512), solution.Block(waiting.addr, 512)):
        game.refuse_call("free", block)
        game.refuse_call("record_stream", block, 1)
    game.device.finish(1)
    game.malloc(4096)
    game.check(addr=waiting.addr, active=4096)
    game.record()
