"""What must be refused, what a refusal may change, and what happens when the driver has nothing left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MIB = 1 << 20
LOOK_TRACE = (
    "Is anything in the books changed before the driver has answered?",
    "是否在驱动答复之前就改动了账目？",
)


def fill(game: Any) -> Any:
    """Return a live block, beside 2 MiB and 12 MiB of wholly free segments on other streams; 34 MiB are reserved."""
    kept = game.malloc(5 * MIB)
    game.free(game.malloc(700, 1))
    game.free(game.malloc(12 * MIB, 2))
    game.check(allocated=5 * MIB, reserved=34 * MIB)
    return kept


def test_free_segments_go_back_before_the_second_try(play: Callable[..., Any]) -> None:
    """When the driver refuses, all wholly free segments go back, of every pool and stream, and it is asked once more.

    zh: 驱动拒绝时，把所有池、所有流的全空闲段都归还，然后只再问一次。
    """
    game = play(capacity=44 * MIB)
    kept = fill(game)
    game.malloc(24 * MIB)
    look = (
        "Whose free segments went back: all of them, or one stream's?",
        "归还了哪些空闲段：全部，还是只有某个流的？",
    )
    calls = [["malloc", 24 * MIB], ["free", 20 * MIB], ["free", 22 * MIB], ["malloc", 24 * MIB]]
    game.check(look, driver=calls, addr=34 * MIB, reserved=44 * MIB, allocated=29 * MIB)
    game.free(kept)
    game.check(allocated=24 * MIB, reserved=44 * MIB)
    game.record()


def test_a_partly_used_segment_is_kept(play: Callable[..., Any]) -> None:
    """A segment with one live block does not go back, whatever else is free in it.

    zh: 只要还有一个块在用，段就不归还，不论其余部分多么空闲。
    """
    game = play(capacity=22 * MIB)
    first = game.malloc(4 * MIB)
    live = game.malloc(4 * MIB)
    game.free(first)
    look = (
        "Is one block of the segment still in use? Then the whole segment stays, however much of it is free.",
        "段里还有块在用吗？只要有一个，不论其余多么空闲，整个段都要留下。",
    )
    game.refuse(16 * MIB, look=look)
    game.check(look, driver=[["malloc", 16 * MIB]] * 2, reserved=20 * MIB, allocated=4 * MIB)
    game.free(live)
    game.malloc(22 * MIB)
    look = ("Now no block of the first segment is in use: it goes back.", "现在第一个段里没有块在用，应当归还。")
    game.check(look, driver=[["malloc", 22 * MIB], ["free", 0], ["malloc", 22 * MIB]], reserved=22 * MIB)
    game.record()


def test_the_driver_is_asked_twice_and_no_more(play: Callable[..., Any]) -> None:
    """The second try is made even when nothing could be given back; after it the MemoryError reaches the caller.

    zh: 即使没有可归还的段也要再问一次；再被拒绝，MemoryError 就交给调用者。
    """
    game = play(faults={0: MemoryError("first"), 1: MemoryError("second")})
    game.refuse(512)
    look = ("Exactly one more try, whether or not anything went back.", "不论有没有归还，都恰好再试一次。")
    game.check(look, driver=[["malloc", 2 * MIB]] * 2, allocated=0, reserved=0)
    game.malloc(512)
    game.check(driver=[["malloc", 2 * MIB]], addr=0, reserved=2 * MIB)
    game.record()


def test_a_second_try_that_succeeds_serves_the_request(play: Callable[..., Any]) -> None:
    """A driver that refuses once and then gives in leaves nothing behind but the new block.

    zh: 驱动先拒绝、后同意：除了新块，不留下别的痕迹。
    """
    game = play(faults={0: MemoryError("busy")})
    game.malloc(3 * MIB, 9)
    look = ("The second answer of the driver counts like a first one.", "驱动第二次的答复与第一次同样有效。")
    game.check(look, driver=[["malloc", 20 * MIB]] * 2, addr=0, size=3 * MIB, allocated=3 * MIB, reserved=20 * MIB)
    game.record()


def test_a_refused_request_changes_nothing_else(play: Callable[..., Any]) -> None:
    """After a MemoryError only the wholly free segments are gone: figures, blocks and segments are as before.

    zh: MemoryError 之后只少了全空闲的段：计数、块和其余的段都与之前相同。
    """
    game = play(capacity=34 * MIB)
    kept = fill(game)
    before = game.snapshot()
    game.refuse(24 * MIB, 3)
    game.check(LOOK_TRACE, allocated=5 * MIB, reserved=20 * MIB)
    what = ("A refused malloc() left a trace in snapshot()", "被拒绝的 malloc() 在 snapshot() 中留下了痕迹")
    game.expect.equal(game.snapshot(), before[:1], what, LOOK_TRACE)
    game.malloc(5 * MIB)
    game.check(LOOK_TRACE, addr=5 * MIB, driver=[], allocated=10 * MIB)
    game.free(kept)
    game.empty_cache()
    game.check(LOOK_TRACE, allocated=5 * MIB, reserved=20 * MIB, driver=[])
    game.record()


@pytest.mark.parametrize("call", [3, 4], ids=["first_try", "second_try"])
def test_another_error_of_the_driver_passes_through(play: Callable[..., Any], call: int) -> None:
    """An error other than MemoryError goes on to the caller at once, and the books are still true.

    zh: 驱动抛出 MemoryError 以外的异常时，立即交给调用者，账目仍然正确。
    """
    faults = {3: MemoryError("full"), call: RuntimeError("device lost")}
    game = play(faults=faults)
    kept = fill(game)
    passed_on = (
        "Only a MemoryError is handled: every other exception of the driver goes on to the caller as it is.",
        "只处理 MemoryError：驱动的其他异常都原样交给调用者。",
    )
    game.refuse(24 * MIB, error=RuntimeError, look=passed_on)
    asked: list[list[Any]] = [["malloc", 24 * MIB]]
    if call == 3:
        look = ("Only a MemoryError starts a second try.", "只有 MemoryError 才触发第二次尝试。")
        game.check(look, driver=asked, allocated=5 * MIB, reserved=34 * MIB)
    else:
        gone = [["free", 20 * MIB], ["free", 22 * MIB]]
        game.check(LOOK_TRACE, driver=asked + gone + asked, allocated=5 * MIB, reserved=20 * MIB)
    game.free(kept)
    game.snapshot()
    game.malloc(24 * MIB)
    game.check(driver=asked, allocated=24 * MIB)
    game.record()


def test_a_negative_size_is_refused(play: Callable[..., Any]) -> None:
    """A negative size is a ValueError, the driver is not called, and nothing changes.

    zh: 大小为负：抛出 ValueError，不调用驱动，什么都不改变。
    """
    game = play()
    look = (
        "Is the size checked before it is rounded up, and before the driver is asked? Rounded up, -1 becomes 0.",
        "是否在取整和询问驱动之前就检查了大小？-1 向上取整之后会变成 0。",
    )
    for size in (-1, -512):
        game.refuse(size, error=ValueError, look=look)
        game.check(look, driver=[], allocated=0, reserved=0)
    game.expect.equal(game.snapshot(), [], ("A refused size must leave no segment", "被拒绝的大小不应留下段"), look)
    game.record()


def test_a_block_is_freed_once(play: Callable[..., Any]) -> None:
    """Freeing a block again is a ValueError, whether or not it has been merged meanwhile.

    zh: 再次释放同一个块应抛出 ValueError，不论它是否已被合并。
    """
    game = play()
    first, second, third = (game.malloc(1024) for _ in range(3))
    what = ("The block was free already: free() must raise ValueError", "这个块已经释放过：free() 应抛出 ValueError")
    game.free(second)
    game.refuse_free(second, what)
    game.free(first)
    game.refuse_free(first, what)
    game.refuse_free(second, what)
    game.free(third)
    game.refuse_free(third, what)
    game.record()


def test_what_was_never_allocated_is_refused(play: Callable[..., Any], solution: Any) -> None:
    """Freeing what malloc did not return is a ValueError: an unknown address, a part, a remainder, another size.

    zh: 释放不是 malloc 返回的东西应抛出 ValueError：未知地址、块的一部分、切剩的余量、大小不符。
    """
    game = play()
    block = game.malloc(2048)
    game.malloc(512)
    what = ("That is no allocated block: free() must raise ValueError", "这不是已分配的块：free() 应抛出 ValueError")
    for addr, size in (
        (1 << 40, 512),
        (block.addr + 512, 512),
        (block.addr, 512),
        (block.addr, 4096),
        (block.addr + 2560, 2 * MIB - 2560),
        (2 * MIB, 512),
    ):
        game.refuse_free(solution.Block(addr, size), what)
    game.free(block)
    game.check(allocated=512)
    game.record()


def test_a_block_that_was_merged_away_is_gone(play: Callable[..., Any], solution: Any) -> None:
    """Where a block began that was merged with the one before it, no block begins, whatever is allocated over it.

    zh: 块并入前一个块之后，它原来的起始地址不再是任何块的起点，不论后来在那里分配了什么。
    """
    game = play()
    first, second = game.malloc(512), game.malloc(512)
    game.free(first)
    game.free(second)
    whole = game.malloc(MIB)
    game.check(addr=first.addr, size=MIB, driver=[])
    what = (
        "No block begins at the address of one that was merged away: free() must raise ValueError",
        "被合并掉的块的地址上没有块开始：free() 应抛出 ValueError",
    )
    look = (
        "Is a block still known by the address that it had before it was merged?",
        "合并之后，块是否还登记在它原来的地址上？",
    )
    game.refuse_free(solution.Block(second.addr, whole.size), what, look)
    game.free(whole)
    game.check(allocated=0)
    game.record()


def test_another_allocators_block_is_refused(play: Callable[..., Any]) -> None:
    """Two allocators share nothing: a block of the one is foreign to the other.

    zh: 两个分配器互不相干：一个的块对另一个来说是外来的。
    """
    game, other = play(), play(bases=[64 * MIB])
    block = other.malloc(512)
    held = (game.allocator.memory_allocated(), game.allocator.memory_reserved())
    look = ("Is the state kept in the class instead of the object?", "状态是不是放在了类上，而不是对象上？")
    game.expect.equal(held, (0, 0), ("A new allocator holds memory", "新建的分配器却持有内存"), look)
    what = (
        "The block is another allocator's: free() must raise ValueError",
        "块属于另一个分配器：free() 应抛出 ValueError",
    )
    game.refuse_free(block, what)
    own = game.malloc(512)
    game.check(addr=0, allocated=512, reserved=2 * MIB)
    other.refuse_free(own, what)
    other.free(block)
    game.record()


def test_a_block_is_gone_with_its_segment(play: Callable[..., Any]) -> None:
    """A block whose segment went back to the driver is no longer known.

    zh: 段归还驱动之后，其中的块不再有效。
    """
    game = play()
    block = game.malloc(512)
    game.free(block)
    game.empty_cache()
    what = ("Its segment is gone: free() must raise ValueError", "所在的段已归还：free() 应抛出 ValueError")
    game.refuse_free(block, what)
    game.record()
