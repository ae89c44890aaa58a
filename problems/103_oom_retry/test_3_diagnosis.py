"""Why a request can't be served, and whose blocks stand in the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MIB = 1 << 20

LOOK_FITS = (
    "It fits if malloc() would be served now: by a block, by room, or by room once what is unused has gone back.",
    "malloc() 此刻能满足就是 fits：靠空闲块、靠余地，或归还没人用的段之后的余地。",
)


def pin(game: Any, *places: tuple[int, int], stream: int = 0) -> list[Any]:
    """Make a segment of 20 MiB for each place, with one block in use.

    Args:
        game: the player.
        places: where the block begins in its segment, and its size, in MiB.
        stream: whose segments they are.
    """
    pins, gaps = [], []
    for start, size in places:
        gaps += [game.malloc(piece, stream) for piece in cut(start)]
        pins.append(game.malloc(size * MIB, stream))
        gaps += [game.malloc(piece, stream) for piece in cut(20 - start - size)]
    game.free(*gaps)
    return pins


def cut(mib: int) -> list[int]:
    """Return pieces for which no segment of their own is made, in bytes."""
    pieces = -(-mib // 9)
    return [mib * MIB // pieces] * pieces


def test_24_mib_are_free_and_12_mib_are_refused(play: Callable[..., Any]) -> None:
    """The free bytes would do, but lie in four pieces: fragmented.

    zh: 空闲的字节够用，却分成四块：碎片。
    """
    game = play(total=48 * MIB)
    pins = pin(game, (6, 8), (6, 8))
    report = game.refuse(12 * MIB)
    what = ("malloc(12 MiB) with 24 MiB free in the cache", "缓存里有 24 MiB 空闲时的 malloc(12 MiB)")
    game.check_fields(report, what, cached=24 * MIB, free=8 * MIB)
    found = game.diagnose(12 * MIB)
    game.check_fields(found, what, cause="fragmented", largest=6 * MIB, own=24 * MIB, other=0)
    game.check_fields(found, what, in_the_way=(pins[0],))
    game.free(pins[0])
    game.malloc(12 * MIB)
    game.record()


def test_free_bytes_of_another_stream_do_not_count(play: Callable[..., Any]) -> None:
    """Free blocks of another stream can't serve the request, and their segment can't go back: elsewhere.

    zh: 别的流的空闲块不能满足请求，它们的段又还不回去：在别处。
    """
    game = play(total=24 * MIB)
    pinned = pin(game, (14, 2), stream=1)
    game.refuse(12 * MIB)
    found = game.diagnose(12 * MIB)
    what = ("diagnose(12 MiB)", "diagnose(12 MiB)")
    game.check_fields(found, what, cause="elsewhere", largest=0, own=0, other=18 * MIB)
    game.check_fields(found, what, in_the_way=tuple(pinned))
    found = game.diagnose(12 * MIB, 1)
    game.check_fields(found, what, cause="fits", largest=14 * MIB, own=18 * MIB, other=0, in_the_way=())
    game.record()


def test_just_enough_is_enough(play: Callable[..., Any]) -> None:
    """Free bytes of exactly the rounded size count as enough; 512 bytes more are another cause.

    zh: 空闲字节恰好等于取整后的大小就算够；再多 512 字节，原因就不同。
    """
    game = play(total=48 * MIB)
    pin(game, (6, 8), (6, 8))
    game.check_fields(game.diagnose(24 * MIB), ("diagnose(24 MiB)", "diagnose(24 MiB)"), cause="fragmented")
    game.check_fields(game.diagnose(24 * MIB + 1), ("diagnose(24 MiB + 1)", "diagnose(24 MiB + 1)"), cause="in_use")
    game.record("own bytes")
    game = play(total=24 * MIB)
    pin(game, (14, 2), stream=1)
    game.check_fields(game.diagnose(18 * MIB), ("diagnose(18 MiB)", "diagnose(18 MiB)"), cause="elsewhere")
    game.check_fields(game.diagnose(18 * MIB + 1), ("diagnose(18 MiB + 1)", "diagnose(18 MiB + 1)"), cause="in_use")
    game.record("bytes elsewhere")


def test_tiny_blocks_pin_small_segments(play: Callable[..., Any]) -> None:
    """Twelve blocks of 512 bytes hold 24 MiB of the small pool: elsewhere for a large request, in no single way.

    zh: 十二个 512 字节的块占住小池的 24 MiB：对大请求来说在别处，而且腾出任何一个段都不够。
    """
    game = play(total=25 * MIB)
    blocks = [game.malloc(size) for _ in range(12) for size in (512, MIB, MIB - 512)]
    pins = blocks[::3]
    game.free(*blocks[1::3], *blocks[2::3])
    what = ("diagnose(6 MiB)", "diagnose(6 MiB)")
    free = 24 * MIB - 12 * 512
    game.check_fields(game.diagnose(6 * MIB), what, cause="elsewhere", own=0, other=free, in_the_way=())
    game.check_fields(game.diagnose(MIB), what, cause="fits", own=free, other=0)
    game.free(*pins)
    game.check_fields(game.diagnose(6 * MIB), what, cause="fits", own=0, other=0)
    game.record()


def test_memory_that_is_in_use_is_in_use(play: Callable[..., Any]) -> None:
    """All free blocks together would not do: in_use; the way out is the segment with the fewest bytes in use.

    zh: 所有空闲块加起来也不够：in_use；要腾就腾在用字节最少的段。
    """
    game = play(total=64 * MIB)
    game.malloc(30 * MIB)
    cheap = [game.malloc(9 * MIB, 2), game.malloc(9 * MIB, 2)]
    game.malloc(12 * MIB, 1)
    found = game.diagnose(20 * MIB)
    what = ("diagnose(20 MiB)", "diagnose(20 MiB)")
    game.check_fields(found, what, cause="in_use", largest=0, own=0, other=2 * MIB, in_the_way=tuple(cheap))
    game.check_fields(game.diagnose(60 * MIB), what, cause="in_use", in_the_way=())
    game.record()


@pytest.mark.parametrize(
    "way", ["a free block", "room on the GPU", "unused segments"], ids=lambda way: way.replace(" ", "_")
)
def test_what_malloc_would_serve_fits(play: Callable[..., Any], way: str) -> None:
    """It fits where a free block is large enough, where the GPU has room, or where unused segments make it.

    zh: 有够大的空闲块、GPU 还有余地、或归还没人用的段之后有余地，都算 fits。
    """
    game = play(total=40 * MIB if way == "room on the GPU" else 24 * MIB)
    if way == "a free block":
        pin(game, (12, 6))
    elif way == "room on the GPU":
        game.malloc(20 * MIB)
    else:
        game.free(game.malloc(5 * MIB, 1), game.malloc(MIB, 1))
    what = (f"diagnose(12 MiB), served by {way}", "diagnose(12 MiB)")
    game.check_fields(game.diagnose(12 * MIB), what, LOOK_FITS, cause="fits", in_the_way=())
    game.malloc(12 * MIB)
    game.record()


def test_the_limit_leaves_less_room_than_the_gpu(play: Callable[..., Any]) -> None:
    """Room is what both the limit and the GPU leave.

    zh: 余地取上限和 GPU 两者中较小的。
    """
    what, look = ("diagnose(12 MiB)", "diagnose(12 MiB)"), ("Room is the smaller of the two.", "余地取两者中较小的。")
    for options in ({"limit": 31 * MIB}, {"limit": 60 * MIB, "total": 31 * MIB}):
        game = play(**options)
        held = game.malloc(20 * MIB)
        game.check_fields(game.diagnose(12 * MIB), what, look, cause="in_use", in_the_way=(held,))
        game.check_fields(game.diagnose(11 * MIB - 1), what, look, cause="in_use")
        game.check_fields(game.diagnose(10 * MIB), what, look, cause="fits")
        game.record(str(options))


def test_the_cheapest_segment_is_in_the_way(play: Callable[..., Any]) -> None:
    """Of the segments that would help, the one with the fewest bytes in use is named, with all its blocks.

    zh: 在有用的段里，报出在用字节最少的那个，以及它的所有块。
    """
    game = play(total=62 * MIB)
    pin(game, (6, 8), (8, 7))
    first = game.malloc(4 * MIB, 1)
    second, last = game.malloc(2 * MIB, 1), game.malloc(14 * MIB, 1)
    game.free(last)
    game.malloc(512)
    found = game.diagnose(14 * MIB)
    what = ("diagnose(14 MiB)", "diagnose(14 MiB)")
    game.check_fields(found, what, cause="fragmented", in_the_way=(first, second))
    game.record()


@pytest.mark.weight(2)
@pytest.mark.parametrize("limit", [None, 90 * MIB], ids=["without_a_limit", "with_a_limit"])
def test_the_diagnosis_keeps_its_word(play: Callable[..., Any], rng: Any, limit: int | None) -> None:
    """In random states malloc is served if and only if it fits, and it fits once what is in the way has gone.

    zh: 在随机状态下，当且仅当 fits 时 malloc 能满足；挡路的块释放之后就 fits。
    """
    for number in range(6):
        game = play(total=110 * MIB, limit=limit)
        live = make_mess(game, rng)
        for _ in range(6):
            size, stream = rng.choice((700, 3 * MIB, 7 * MIB, 12 * MIB, 25 * MIB)), rng.randrange(3)
            found = game.diagnose(size, stream)
            try:
                live.append(game.allocator.malloc(size, stream))
                is_served = True
            except MemoryError:
                is_served = False
            what = (f"diagnose({size}, {stream}) and malloc disagree", f"diagnose({size}, {stream}) 与 malloc 不一致")
            game.expect.equal(found.cause == "fits", is_served, what, LOOK_FITS, game.draw())
            game.note(f"malloc({size}, {stream})", {"served": is_served})
            if found.in_the_way:
                game.free(*found.in_the_way)
                live = [block for block in live if block not in found.in_the_way]
                after = game.diagnose(size, stream)
                what = ("After what was in the way has gone", "挡路的块释放之后")
                game.check_fields(after, what, cause="fits")
        game.record(f"decisions of state {number + 1}")


def make_mess(game: Any, rng: Any) -> list[Any]:
    """Fill most of the memory and free every second block or so; return those that are left."""
    live = []
    for _ in range(60):
        size = rng.choice((rng.randrange(1, 1000), rng.randrange(1 << 19, MIB), rng.randrange(MIB, 14 * MIB)))
        try:
            live.append(game.allocator.malloc(size, rng.randrange(3)))
        except MemoryError:
            rng.shuffle(live)
            for block in live[: len(live) // 3]:
                game.allocator.free(block)
            del live[: len(live) // 3]
    game.note("a random mess", {})
    return live
