"""Which free block serves a request, and what becomes of a block that is freed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

MIB = 1 << 20


def test_the_smallest_sufficient_block_is_taken(play: Callable[..., Any]) -> None:
    """Best fit: of all free blocks that are large enough, the smallest one serves the request.

    zh: 最佳适配：在所有够大的空闲块中，用最小的那个。
    """
    game = play()
    gaps = []
    for size in (4096, 1024, 2048, 3072):
        gaps.append(game.malloc(size))
        game.malloc(512)  # keeps the gaps apart
    for gap in gaps:
        game.free(gap)
    look = ("Was the first sufficient block taken, or the largest?", "是不是取了第一个够大的块，或者最大的块？")
    game.malloc(1024)
    game.check(look, addr=gaps[1].addr, size=1024)
    game.malloc(1025)
    game.check(look, addr=gaps[2].addr, size=1536)
    game.malloc(2561)
    game.check(look, addr=gaps[3].addr, size=3072)
    game.malloc(3073)
    game.check(look, addr=gaps[0].addr, size=3584)
    game.record()


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=lambda order: "".join(map(str, order)))
def test_the_lowest_address_wins_among_equals(play: Callable[..., Any], order: tuple[int, ...]) -> None:
    """Among free blocks of equal size the one at the lowest address is taken, whichever was freed last.

    zh: 大小相同的空闲块中取地址最低的，与释放先后无关。
    """
    game = play()
    gaps = []
    for _ in order:
        gaps.append(game.malloc(1024))
        game.malloc(512)
    for at in order:
        game.free(gaps[at])
    look = ("Are equal blocks told apart by address, or by age?", "同样大小的块是按地址区分，还是按先后？")
    for gap in gaps:
        game.malloc(1000)
        game.check(look, addr=gap.addr, size=1024)
    game.record()


def test_the_lowest_address_wins_over_segments(play: Callable[..., Any]) -> None:
    """The driver's addresses need not grow: the lowest address is taken, not the oldest segment.

    zh: 驱动给出的地址不一定递增：取的是地址最低的块，不是最早的段。
    """
    game = play(bases=[80 * MIB, 0, 40 * MIB])
    blocks = [game.malloc(12 * MIB) for _ in range(3)]
    for block in blocks:
        game.free(block)
    look = ("Equal blocks in several segments go by address.", "不同段里大小相同的块按地址先后取。")
    for addr in (0, 40 * MIB, 80 * MIB):
        game.malloc(12 * MIB)
        game.check(look, addr=addr, driver=[])
    game.record()


def test_a_freed_block_is_reused_at_once(play: Callable[..., Any]) -> None:
    """A block that is freed serves the next request on its stream, without a call of the driver.

    zh: 释放的块立即可以满足同一流上的下一个请求，不再调用驱动。
    """
    game = play()
    for stream in (0, 5):
        block = game.malloc(3 * MIB, stream)
        game.free(block)
        game.malloc(3 * MIB, stream)
        game.check(addr=block.addr, driver=[])
    game.record()


@pytest.mark.parametrize(
    ("cached", "wanted", "segment_bytes"),
    [(MIB + 1, MIB, 2 * MIB), (MIB, MIB + 1, 20 * MIB)],
    ids=["small_from_large", "large_from_small"],
)
def test_pools_lend_each_other_nothing(play: Callable[..., Any], cached: int, wanted: int, segment_bytes: int) -> None:
    """A free block of one pool never serves a request of the other, however well it fits.

    zh: 一个池的空闲块绝不满足另一个池的请求，大小再合适也不行。
    """
    game = play()
    game.free(game.malloc(cached))
    game.malloc(wanted)
    look = ("To which pool does the free block belong, to which the request?", "空闲块属于哪个池，请求又属于哪个池？")
    game.check(look, driver=[["malloc", segment_bytes]], reserved=22 * MIB)
    game.record()


@pytest.mark.parametrize("size", [4096, 3 * MIB], ids=["small", "large"])
def test_streams_lend_each_other_nothing(play: Callable[..., Any], size: int) -> None:
    """A free block serves only requests of the stream for which its segment was made; the default is stream 0.

    zh: 空闲块只满足其所在段所属流上的请求；默认是 0 号流。
    """
    game = play()
    look = ("On which stream may work still use that block?", "哪个流上可能还有工作在用这块内存？")
    blocks = []
    for stream in (1, 0, 2):
        block = game.malloc(size, stream)
        game.check(look, driver=[["malloc", 2 * MIB if size < MIB else 20 * MIB]])
        game.free(block)
        blocks.append((block, stream))
    for block, stream in blocks:
        game.malloc(size, stream)
        game.check(look, addr=block.addr, driver=[])
    game.record()


def test_the_rest_of_a_segment_stays_with_its_stream(play: Callable[..., Any]) -> None:
    """What is cut off belongs to the stream of its segment, not to whoever asks next.

    zh: 切下的余量属于段所在的流，不归下一个请求者。
    """
    game = play()
    game.malloc(512, 3)
    game.malloc(512, 4)
    game.check(driver=[["malloc", 2 * MIB]], addr=2 * MIB)
    game.malloc(512, 3)
    game.check(driver=[], addr=512)
    game.record()


@pytest.mark.parametrize("order", list(permutations("abc")), ids="".join)
def test_a_freed_block_merges_with_its_free_neighbours(play: Callable[..., Any], order: tuple[str, ...]) -> None:
    """Three neighbours, freed in any order, become one free block.

    zh: 三个相邻的块，无论以何种顺序释放，都合并成一个空闲块。
    """
    game = play()
    game.malloc(512)
    blocks = {name: game.malloc(1024) for name in "abc"}
    game.malloc(512)
    for name in order:
        game.free(blocks[name])
    game.malloc(3072)
    look = ("Was the block merged with the one before it and the one after it?", "是否与前面、后面的空闲块都合并了？")
    game.check(look, addr=512, size=3072, driver=[])
    game.record()


def test_an_allocated_neighbour_is_left_alone(play: Callable[..., Any]) -> None:
    """A block between two free ones stays its owner's: nothing merges over it.

    zh: 两个空闲块之间仍在使用的块不受影响，不会被并进去。
    """
    game = play()
    first, middle, last = (game.malloc(1024) for _ in range(3))
    game.malloc(512)
    game.free(first)
    game.free(last)
    game.malloc(2048)
    game.check(("Did two blocks merge over a third?", "是否跨过中间的块合并了？"), addr=3584)
    game.free(middle)
    game.malloc(3072)
    game.check(addr=0, size=3072, driver=[])
    game.record()


def test_a_block_merges_with_the_rest_of_its_segment(play: Callable[..., Any]) -> None:
    """When all its blocks are free, a segment is one free block again.

    zh: 段内的块全部释放后，整个段又是一个空闲块。
    """
    game = play()
    blocks = [game.malloc(300_000) for _ in range(5)]
    for at in (1, 3, 0, 4, 2):
        game.free(blocks[at])
    whole = [(0, 2 * MIB, 0, [(0, 2 * MIB, False)])]
    what = ("A segment whose blocks are all free must be one block", "块全部空闲的段应当只剩一个块")
    look = ("Was each block merged on both sides when it was freed?", "每个块释放时，前后两边都合并了吗？")
    game.expect.equal(game.snapshot(), whole, what, look, game.draw(0))
    game.malloc(MIB)
    game.malloc(MIB)
    game.check(addr=MIB, driver=[])
    game.record()


@pytest.mark.parametrize("streams", [(0, 0), (1, 2)], ids=["one_stream", "two_streams"])
def test_segments_side_by_side_do_not_merge(play: Callable[..., Any], streams: tuple[int, int]) -> None:
    """Two segments that touch in memory stay two: a block never reaches over a segment's end.

    zh: 内存中相邻的两个段仍是两个段：块不会跨过段的边界。
    """
    game = play()
    blocks = [game.malloc(12 * MIB, stream) for stream in streams]
    game.free(blocks[0])
    game.free(blocks[1])
    look = ("Does the neighbour belong to the same segment?", "相邻的块属于同一个段吗？")
    game.malloc(24 * MIB, streams[0])
    game.check(look, addr=24 * MIB, driver=[["malloc", 24 * MIB]])
    apart = [(0, 12 * MIB, streams[0]), (12 * MIB, 12 * MIB, streams[1]), (24 * MIB, 24 * MIB, streams[0])]
    what = ("Segments that touch must stay apart in snapshot()", "相邻的段在 snapshot() 中应当分开")
    game.expect.equal([segment[:3] for segment in game.snapshot()], apart, what, look)
    game.record()
