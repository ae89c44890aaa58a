"""What malloc tries before it gives up, and what it counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

MIB = 1 << 20


def fill(game: Any) -> tuple[Any, Any]:
    """Reserve 44 MiB in three segments, one without a block in use for each of two streams and pools."""
    kept = game.malloc(12 * MIB)
    gone = game.malloc(30 * MIB, 1)
    small = game.malloc(512, 2)
    game.free(gone, small)
    return kept, gone


def test_a_cached_block_needs_no_segment(play: Callable[..., Any]) -> None:
    """What the cache can serve asks the GPU for nothing, and nothing goes back.

    zh: 缓存能满足的请求不向 GPU 要任何东西，也不归还任何东西。
    """
    game = play(total=50 * MIB)
    _, gone = fill(game)
    game.malloc(30 * MIB, 1)
    game.check(addr=gone.addr, calls=[], reserved=44 * MIB, num_alloc_retries=0)
    game.record()


def test_nothing_goes_back_before_a_refusal(play: Callable[..., Any]) -> None:
    """As long as the GPU has memory, unused segments stay in the cache.

    zh: 只要 GPU 还有显存，没人用的段就留在缓存里。
    """
    game = play(total=64 * MIB)
    fill(game)
    game.malloc(20 * MIB, 3)
    game.check(calls=[["malloc", 20 * MIB]], reserved=64 * MIB, num_alloc_retries=0, num_device_alloc=4)
    game.record()


def test_a_refusal_gives_back_what_is_unused(play: Callable[..., Any]) -> None:
    """Segments of every pool and stream without a block in use go back, then the GPU is asked again.

    zh: 所有池、所有流里没有块在用的段都归还，然后再问一次 GPU。
    """
    game = play(total=50 * MIB)
    fill(game)
    game.malloc(36 * MIB, 3)
    freed = [["free", 12 * MIB], ["free", 42 * MIB]]
    game.check(calls=[["malloc", 36 * MIB], *freed, ["malloc", 36 * MIB]], reserved=48 * MIB, allocated=48 * MIB)
    game.check(num_alloc_retries=1, num_ooms=0, num_device_alloc=4, num_device_free=2)
    game.record()


def test_the_gpu_is_asked_again_though_nothing_went_back(play: Callable[..., Any]) -> None:
    """The second try does not depend on whether there was something to give back, and there is no third.

    zh: 即使没有可归还的段，也要再问一次；没有第三次。
    """
    game = play(total=25 * MIB)
    game.malloc(20 * MIB)
    game.refuse(12 * MIB)
    game.check(calls=[["malloc", 12 * MIB]] * 2, num_alloc_retries=1, num_ooms=1, num_device_alloc=1)
    game.record()


def test_a_segment_with_a_block_in_use_stays(play: Callable[..., Any]) -> None:
    """A single small block keeps its whole segment.

    zh: 一个小块就能占住整个段。
    """
    game = play(total=25 * MIB)
    large, pin = game.malloc(8 * MIB), game.malloc(2 * MIB)
    game.free(large)
    game.refuse(6 * MIB, 1)
    game.check(calls=[["malloc", 20 * MIB]] * 2, reserved=20 * MIB, allocated=2 * MIB, num_device_free=0)
    game.free(pin)
    game.malloc(6 * MIB, 1)
    game.check(reserved=20 * MIB, num_alloc_retries=2, num_ooms=1, num_device_alloc=2, num_device_free=1)
    game.record()


def test_over_the_limit_the_gpu_is_not_asked(play: Callable[..., Any]) -> None:
    """A segment that would exceed the limit is refused without a call of the GPU, however much it has.

    zh: 会超过上限的段不问 GPU 就拒绝，不管 GPU 还有多少。
    """
    game = play(limit=40 * MIB)
    game.malloc(30 * MIB)
    game.refuse(12 * MIB)
    look = (
        "reserved + segment > limit is a refusal like the GPU's: what is unused goes back, and it is tried once more.",
        "reserved + 段 > 上限，与 GPU 的拒绝同样处理：归还没人用的段，再试一次。",
    )
    game.check(look, calls=[], reserved=30 * MIB, num_alloc_retries=1, num_ooms=1, num_device_alloc=1)
    game.record()


def test_the_limit_itself_may_be_reached(play: Callable[..., Any]) -> None:
    """Segments of exactly the limit are allowed; one more is not.

    zh: 正好达到上限是允许的，再多一个段就不行。
    """
    game = play(limit=42 * MIB)
    game.malloc(40 * MIB)
    game.malloc(512)
    game.check(reserved=42 * MIB, num_alloc_retries=0)
    game.refuse(MIB, 1)
    game.check(calls=[], reserved=42 * MIB)
    game.record()


def test_giving_back_makes_room_under_the_limit(play: Callable[..., Any]) -> None:
    """After the unused segments have gone back, the limit is looked at anew.

    zh: 归还没人用的段之后，要重新看上限。
    """
    game = play(limit=44 * MIB)
    fill(game)
    game.malloc(32 * MIB, 3)
    game.check(calls=[["free", 12 * MIB], ["free", 42 * MIB], ["malloc", 32 * MIB]], reserved=44 * MIB)
    game.check(num_alloc_retries=1, num_ooms=0)
    game.record()


def test_the_counters_are_the_callers_copy(play: Callable[..., Any], expect: Any) -> None:
    """What a caller does to the dictionary changes nothing.

    zh: 调用者对字典做什么，都不影响计数。
    """
    game = play()
    game.malloc(512)
    stats = game.allocator.memory_stats()
    stats["num_device_alloc"] = 99
    game.malloc(MIB)
    expect.equal(
        game.allocator.memory_stats()["num_device_alloc"],
        1,
        ("The caller changed the allocator's own counters", "调用者改动了分配器自己的计数"),
        ("memory_stats() returns a copy.", "memory_stats() 返回的是拷贝。"),
    )
    game.record()


def test_it_goes_on_after_an_error(play: Callable[..., Any]) -> None:
    """Blocks in use are untouched by an OutOfMemoryError, and smaller requests are served.

    zh: OutOfMemoryError 不影响在用的块，更小的请求照样满足。
    """
    game = play(total=40 * MIB)
    kept = game.malloc(20 * MIB)
    game.free(game.malloc(12 * MIB))
    game.refuse(30 * MIB)
    game.check(allocated=20 * MIB, reserved=20 * MIB, num_ooms=1)
    game.malloc(14 * MIB)
    game.check(allocated=34 * MIB, reserved=34 * MIB)
    game.free(kept)
    game.malloc(20 * MIB)
    game.check(addr=kept.addr, calls=[], num_alloc_retries=1, num_ooms=1)
    game.record()


def test_empty_cache_gives_back_what_is_unused(play: Callable[..., Any]) -> None:
    """Every segment without a block in use goes back, whatever its pool and stream; it counts, but not as a retry.

    zh: 没有块在用的段全部归还，不分池和流；计入归还次数，但不算重试。
    """
    game = play()
    fill(game)
    game.empty_cache()
    game.check(calls=[["free", 12 * MIB], ["free", 42 * MIB]], reserved=12 * MIB, allocated=12 * MIB)
    game.check(num_device_free=2, num_alloc_retries=0)
    game.empty_cache()
    game.check(calls=[], reserved=12 * MIB)
    game.record()


@pytest.mark.parametrize("name", ["malloc", "diagnose"])
def test_a_negative_size_is_refused(play: Callable[..., Any], expect: Any, name: str) -> None:
    """A negative size is a ValueError, and the GPU is not asked.

    zh: 大小为负：抛出 ValueError，也不问 GPU。
    """
    game = play()
    call = partial(getattr(game.allocator, name), -1)
    expect.raises(ValueError, call, (f"{name}(-1) must raise ValueError", f"{name}(-1) 应当抛出 ValueError"))
    game.note(f"{name}(-1)", {"raises": "ValueError"})
    game.check(calls=[], reserved=0)
    game.record()


def test_another_error_of_the_gpu_passes_through(play: Callable[..., Any], expect: Any) -> None:
    """Only a MemoryError is a refusal: anything else goes on to the caller at once.

    zh: 只有 MemoryError 算拒绝：其他异常立即交给调用者。
    """
    game = play(fault=RuntimeError("device lost"))
    what = ("A RuntimeError of the GPU must reach the caller", "GPU 抛出的 RuntimeError 应当传到调用者")
    look = ("Is every exception taken for a refusal?", "是不是把所有异常都当成了拒绝？")
    expect.raises(RuntimeError, partial(game.allocator.malloc, 512), what, look)
    game.note("malloc(512)", {"raises": "RuntimeError"})
    game.check(look, calls=[["malloc", 2 * MIB]], num_alloc_retries=0, num_ooms=0, num_device_alloc=0)
    game.record()
