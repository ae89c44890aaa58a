"""What the allocator costs: calls of the driver, reserved memory."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

KIB = 1 << 10
MIB = 1 << 20


@pytest.mark.weight(2)
def test_no_driver_call_while_cached_memory_fits(play: Callable[..., Any], rng: Random) -> None:
    """Once a loop of requests has run, running it again calls the driver no more, in whatever order blocks are freed.

    zh: 一组请求跑过一遍之后，再跑就不再调用驱动，不论块以何种顺序释放。
    """
    game = play()
    step = [(rng.randrange(1, 6 * MIB), stream) for stream in (0, 1) for _ in range(12)]
    look = (
        "All of this was served before, from memory that is still in the cache.",
        "这些请求之前都满足过，所用的内存仍在缓存里。",
    )
    for turn in range(8):
        blocks = []
        for size, stream in step:
            blocks.append(game.malloc(size, stream))
            if turn:
                game.check(look, driver=[])
        rng.shuffle(blocks)
        for block in blocks:
            game.free(block)
            game.check(driver=[])
    game.record()


@pytest.mark.weight(2)
@pytest.mark.budget(memory_bytes=108 * MIB)
def test_growing_buffers_reserve_no_more_than_the_rules(play: Callable[..., Any], measure: Any) -> None:
    """Eight buffers that grow by reallocation, as a KV cache does through cat, stay within the memory of the rules.

    zh: 八个缓冲区像用 cat 扩展的 KV 缓存那样反复重新分配、不断变大，保留的内存不超过规则所需。
    """
    game = play()
    buffers: list[Any] = [None] * 8
    for turn in range(1, 41):
        for at in range(len(buffers)):
            grown = game.malloc(turn * (96 + 24 * at) * KIB + at * 100)
            if buffers[at] is not None:
                game.free(buffers[at])
            buffers[at] = grown
    measure("memory_bytes", game.last["reserved"], "B")
    game.record()
