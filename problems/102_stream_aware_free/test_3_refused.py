"""What is left to try when the device has no memory: wait, give back, ask once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MIB = 1 << 20

LOOK_WAIT = (
    "Before it gives up, malloc() waits for every outstanding event, gives wholly free segments back and asks again.",
    "放弃之前，malloc() 要等完所有未完成的事件，归还整段空闲的段，再问一次。",
)


def leave_waiting(game: Any, size: int, stream: int, *others: int) -> Any:
    """Free a block of ``stream`` that other streams still use."""
    block = game.malloc(size, stream)
    for other in others:
        game.call("record_stream", block, other)
        game.launch(other, block, "read")
    game.call("free", block)
    return block


def test_a_refusal_waits_for_the_blocks_that_wait(play: Callable[..., Any]) -> None:
    """When the device refuses, the host waits for the events, and the block serves the request after all.

    zh: 设备拒绝之后，主机等待事件完成，那个块终究满足了请求。
    """
    game = play(capacity=30 * MIB)
    block = leave_waiting(game, 24 * MIB, 0, 1)
    game.malloc(24 * MIB)
    game.check(LOOK_WAIT, waits=[1], allocated=24 * MIB, active=24 * MIB, reserved=24 * MIB)
    again = [["malloc", 24 * MIB], ["free", block.addr], ["malloc", 24 * MIB]]
    game.check(LOOK_WAIT, driver=again)
    game.record()


def test_every_stream_is_waited_for(play: Callable[..., Any], rng: Any) -> None:
    """The host waits for all outstanding events, of all streams, and gives all their segments back.

    zh: 主机等完所有流上的所有事件，并归还它们的所有段。
    """
    game = play(capacity=64 * MIB)
    streams = rng.sample(range(1, 9), 4)
    leave_waiting(game, 20 * MIB, 0, *streams[:2])
    leave_waiting(game, 20 * MIB, streams[0], streams[2], streams[3])
    leave_waiting(game, MIB, streams[1], streams[3])
    game.malloc(60 * MIB, 9)
    game.check(LOOK_WAIT, waits=sorted(streams), active=60 * MIB, reserved=60 * MIB)
    game.record()


def test_work_after_the_free_is_not_waited_for(play: Callable[..., Any]) -> None:
    """The host waits for the recorded events, not for whatever else is queued on their streams.

    zh: 主机只等录制的事件，不等这些流上的其他工作。
    """
    game = play(capacity=30 * MIB)
    leave_waiting(game, 24 * MIB, 0, 1)
    game.device.launch(1, "other work")
    game.malloc(24 * MIB)
    what = ("The whole stream was waited for", "等了整个流")
    game.expect.equal(game.device.done[1], 1, what, LOOK_WAIT, game.draw())
    game.record()


def test_what_is_complete_already_is_not_waited_for(play: Callable[..., Any]) -> None:
    """The poll comes first: what it finds complete needs no wait, and maybe no second try.

    zh: 先轮询：已经完成的事件不必再等，也许根本不用再问一次。
    """
    game = play(capacity=30 * MIB)
    block = leave_waiting(game, 24 * MIB, 0, 1)
    game.device.finish(1)
    game.malloc(24 * MIB)
    game.check(addr=block.addr, driver=[], waits=[])
    game.record()


def test_a_second_refusal_goes_to_the_caller(play: Callable[..., Any]) -> None:
    """Where even that was not enough, MemoryError is raised, nothing waits any more, and the rest is as it was.

    zh: 如果仍然不够，就抛出 MemoryError；此后不再有块在等，其余一切照旧。
    """
    game = play(capacity=50 * MIB)
    kept = game.malloc(20 * MIB)
    game.call("record_stream", kept, 2)
    game.launch(2, kept)
    leave_waiting(game, 24 * MIB, 0, 1)
    game.refuse(40 * MIB)
    look = (
        "After the refusal, were the waiting blocks free, and the blocks that are handed out untouched?",
        "被拒绝之后，等待的块是否已空闲？已交出的块是否原封不动？",
    )
    game.check(look, waits=[1], allocated=20 * MIB, active=20 * MIB, reserved=20 * MIB)
    asked = game.last["driver"]
    what = ("malloc() asks the device twice, not more and not less", "malloc() 应恰好问设备两次")
    game.expect.equal([call for call in asked if call[0] == "malloc"], [["malloc", 40 * MIB]] * 2, what, LOOK_WAIT)
    game.call("free", kept)
    game.check(look, events=[2], active=20 * MIB)
    game.record()


def test_empty_cache_waits_and_gives_back(play: Callable[..., Any]) -> None:
    """empty_cache waits for every event; then every wholly free segment goes back, and no other.

    zh: empty_cache 等完所有事件，然后归还整段空闲的段，其他的不动。
    """
    game = play()
    game.malloc(512)
    block = leave_waiting(game, 12 * MIB, 0, 1, 2)
    game.call("empty_cache")
    look = (
        "empty_cache() waits for the events first; a segment with a block that waits can't go back.",
        "empty_cache() 先等事件；段里有块还在等，就不能归还。",
    )
    game.check(look, waits=[1, 2], driver=[["free", block.addr]], active=512, reserved=2 * MIB)
    game.call("empty_cache")
    game.check(look, waits=[], driver=[], reserved=2 * MIB)
    game.record()
