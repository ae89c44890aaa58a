"""Sizes: of blocks, of segments, of what is cut off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

KIB = 1 << 10
MIB = 1 << 20


@pytest.mark.parametrize(
    ("request_bytes", "block_bytes"),
    [(0, 512), (1, 512), (511, 512), (512, 512), (513, 1024), (1024, 1024), (1025, 1536), (99_999, 100_352)],
    ids=lambda value: str(value),
)
def test_a_request_is_rounded_up(play: Callable[..., Any], request_bytes: int, block_bytes: int) -> None:
    """A request is rounded up to a multiple of 512 bytes, and to at least 512.

    zh: 请求向上取整到 512 字节的整数倍，至少 512。
    """
    game = play()
    game.malloc(request_bytes)
    look = ("Round up first; everything else works on the rounded size.", "先取整；后面的一切都用取整后的大小。")
    game.check(look, size=block_bytes, allocated=block_bytes)
    game.record()


@pytest.mark.parametrize(
    ("request_bytes", "segment_bytes"),
    [
        pytest.param(1, 2 * MIB, id="1"),
        pytest.param(MIB, 2 * MIB, id="1MiB"),
        pytest.param(MIB + 1, 20 * MIB, id="1MiB+1"),
        pytest.param(5 * MIB, 20 * MIB, id="5MiB"),
        pytest.param(10 * MIB - 512, 20 * MIB, id="10MiB-512"),
        pytest.param(10 * MIB - 511, 10 * MIB, id="10MiB-511"),
        pytest.param(10 * MIB, 10 * MIB, id="10MiB"),
        pytest.param(10 * MIB + 1, 12 * MIB, id="10MiB+1"),
        pytest.param(12 * MIB, 12 * MIB, id="12MiB"),
        pytest.param(34 * MIB - 512, 34 * MIB, id="34MiB-512"),
        pytest.param(32 * MIB + 1, 34 * MIB, id="32MiB+1"),
    ],
)
def test_a_segment_has_its_size(play: Callable[..., Any], request_bytes: int, segment_bytes: int) -> None:
    """A new segment is 2 MiB in the small pool; in the large one 20 MiB below 10 MiB, else rounded up to 2 MiB.

    zh: 新段的大小：小池 2 MiB；大池中不足 10 MiB 的请求用 20 MiB，其余向上取整到 2 MiB。
    """
    game = play()
    game.malloc(request_bytes)
    look = ("Which size decides: the request's, or the rounded one's?", "由哪个大小决定：原始请求，还是取整之后的？")
    game.check(look, driver=[["malloc", segment_bytes]], reserved=segment_bytes, addr=0)
    game.record()


def test_the_first_block_lies_at_the_base(play: Callable[..., Any]) -> None:
    """A new segment is used from its base on, and block after block from there.

    zh: 新段从起始地址用起，块一个挨一个。
    """
    game = play(bases=[6 * MIB])
    game.malloc(700)
    game.check(addr=6 * MIB)
    game.malloc(512)
    game.check(addr=6 * MIB + 1024, allocated=1536, reserved=2 * MIB)
    game.malloc(MIB)
    game.check(addr=6 * MIB + 1536, driver=[])
    game.record()


def test_a_small_block_is_cut_when_512_bytes_remain(play: Callable[..., Any]) -> None:
    """In the small pool a remainder of 512 bytes is cut off, and serves the next request.

    zh: 小池里只要剩下 512 字节就要切开，余下部分可以满足下一个请求。
    """
    game = play()
    first = game.malloc(1536)
    game.malloc(512)
    game.free(first)
    game.malloc(1024)
    look = ("From which remainder on is a block of the small pool cut?", "小池的块，余量达到多少就切？")
    game.check(look, addr=0, size=1024, allocated=1536)
    game.malloc(512)
    game.check(look, addr=1024, size=512, allocated=2048)
    game.record()


def test_a_small_block_is_cut_however_large_the_rest(play: Callable[..., Any]) -> None:
    """The largest block of the small pool leaves exactly 1 MiB of its segment, which is cut off too.

    zh: 小池最大的块恰好在段里留下 1 MiB，同样要切开。
    """
    game = play()
    game.malloc(MIB)
    look = ("The rule of the large pool was applied to the small one.", "把大池的规则用到了小池上。")
    game.check(look, size=MIB, allocated=MIB)
    game.malloc(MIB)
    game.check(look, addr=MIB, size=MIB, allocated=2 * MIB, driver=[])
    game.malloc(512)
    game.check(addr=2 * MIB, reserved=4 * MIB)
    game.record()


@pytest.mark.parametrize("rest_bytes", [512, MIB - 512, MIB], ids=lambda value: f"rest_{value}")
def test_a_large_block_keeps_a_rest_of_1_mib(play: Callable[..., Any], rest_bytes: int) -> None:
    """In the large pool a remainder of at most 1 MiB is not cut off: the whole block is given, and counted.

    zh: 大池里余量不超过 1 MiB 时不切：整块给出，也按整块计数。
    """
    game = play()
    block = game.malloc(12 * MIB - rest_bytes)
    look = (
        "Was a remainder of 1 MiB or less cut off, or the request counted instead of the block?",
        "是切掉了不超过 1 MiB 的余量，还是按请求而不是按块计数了？",
    )
    game.check(look, size=12 * MIB, allocated=12 * MIB, reserved=12 * MIB)
    game.free(block)
    game.check(look, allocated=0, reserved=12 * MIB)
    game.malloc(12 * MIB)
    game.check(addr=0, size=12 * MIB, driver=[])
    game.record()


def test_a_large_block_is_cut_when_more_than_1_mib_remains(play: Callable[..., Any]) -> None:
    """In the large pool a remainder of 1 MiB and 512 bytes is cut off, and serves the next request.

    zh: 大池里余量为 1 MiB 加 512 字节时要切开，余下部分可以满足下一个请求。
    """
    game = play()
    game.malloc(11 * MIB - 512)
    look = ("From which remainder on is a block of the large pool cut?", "大池的块，余量超过多少才切？")
    game.check(look, size=11 * MIB - 512, allocated=11 * MIB - 512)
    game.malloc(MIB + 1)
    game.check(look, addr=11 * MIB - 512, size=MIB + 512, driver=[])
    game.record()


def test_a_cached_large_block_follows_the_same_rule(play: Callable[..., Any]) -> None:
    """A free block of the large pool is cut, or given whole, by the same rule as a new segment.

    zh: 大池中缓存的空闲块与新段一样，按同一条规则决定切开还是整块给出。
    """
    game = play()
    first = game.malloc(6 * MIB)
    game.malloc(4 * MIB)
    game.free(first)
    whole = game.malloc(5 * MIB)
    look = (
        "Exactly 1 MiB would remain: is the rule for a new segment applied to a block from the cache as well?",
        "恰好剩下 1 MiB：缓存中的块是否也按新段的规则处理？",
    )
    game.check(look, addr=0, size=6 * MIB, allocated=10 * MIB, driver=[])
    game.free(whole)
    game.malloc(5 * MIB - 512)
    look = ("A remainder of more than 1 MiB is cut off here too.", "这里超过 1 MiB 的余量同样要切下来。")
    game.check(look, addr=0, size=5 * MIB - 512, allocated=9 * MIB - 512, driver=[])
    game.record()


def test_the_figures_follow_every_call(play: Callable[..., Any]) -> None:
    """memory_allocated() and memory_reserved() start at 0 and are exact after every call.

    zh: memory_allocated() 与 memory_reserved() 从 0 开始，每次调用后都精确。
    """
    game = play()
    game.expect.equal(
        (game.allocator.memory_allocated(), game.allocator.memory_reserved()),
        (0, 0),
        (
            "A new allocator must report 0 bytes, and ask the driver for nothing",
            "新建的分配器应报告 0 字节，也不调用驱动",
        ),
    )
    game.expect.equal(game.driver.take_calls(), [], ("The driver was called too early", "过早调用了驱动"))
    small = game.malloc(100)
    game.check(allocated=512, reserved=2 * MIB)
    large = game.malloc(3 * MIB, stream=7)
    game.check(allocated=3 * MIB + 512, reserved=22 * MIB)
    game.free(small)
    game.check(allocated=3 * MIB, reserved=22 * MIB, driver=[])
    game.free(large)
    game.check(allocated=0, reserved=22 * MIB, driver=[])
    game.record()
