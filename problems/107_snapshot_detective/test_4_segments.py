"""What can still be had from the cache, and what holds the segments."""

from __future__ import annotations

from typing import Any

import pytest
from support_map import draw_segments
from support_story import KIB, MIB, Story, tell

LOOK_REQUEST = (
    "Which blocks may serve an eager request of this stream? Up to 1 MiB: the small pool; above: the large pool.",
    "哪些块可以满足该流上的普通请求？1 MiB 及以下归小池，以上归大池。",
)
LOOK_SEGMENTS = (
    "Free is what is inactive; every other block holds its segment, also one that waits (rule 6).",
    "inactive 才算空闲；其他的块都占着段，在等的也算（规则 6）。",
)


def check_largest(detect: Any, snapshot: Any, expected: int, stream: int = 0, device: int = 0) -> None:
    """Compare the largest request."""
    __tracebackhide__ = True
    actual = detect.find_largest_request(snapshot, stream, device)
    what = (
        f"find_largest_request(stream={stream}) is {actual}, expected {expected}",
        f"find_largest_request(stream={stream}) 为 {actual}，应为 {expected}",
    )
    detect.expect.equal(actual, expected, what, LOOK_REQUEST, draw_segments(snapshot, device))


def check_reports(detect: Any, snapshot: Any, expected: list[tuple[Any, ...]], device: int = 0) -> None:
    """Compare size, free bytes, largest block and holders of each segment."""
    __tracebackhide__ = True
    reports = detect.inspect_segments(snapshot, device)
    actual = [(it.size_bytes, it.free_bytes, it.largest_bytes, it.holders) for it in reports]
    what = ("inspect_segments() differs", "inspect_segments() 的结果不同")
    detect.expect.equal(actual, expected, what, LOOK_SEGMENTS, draw_segments(snapshot, device))


def test_the_largest_free_block_is_found(detect: Any) -> None:
    """It is one block, not a sum.

    zh: 是一个块，不是总和。
    """
    story = Story()
    blocks = [story.alloc(4 * MIB, 11) for _ in range(10)]
    for at in (0, 2, 3, 6, 8):
        story.free(blocks[at])
    check_largest(detect, story.snapshot(), 8 * MIB)
    story.free(blocks[1])
    check_largest(detect, story.snapshot(), 16 * MIB)
    check_largest(detect, Story().snapshot(), 0)
    detect.record()


def test_streams_and_pools_are_kept_apart(detect: Any) -> None:
    """Blocks of another stream, of a graph's pool and of another device can't be had.

    zh: 别的流、CUDA graph 的私有池、别的设备的块都拿不到。
    """
    story, other = Story(), Story(1)
    story.free(story.alloc(12 * MIB, 11, stream=7))
    story.free(story.alloc(30 * MIB, 12, pool=(0, 1)))
    story.free(story.alloc(24 * MIB, 12, pool=(1, 0)))
    story.free(story.alloc(2 * MIB, 13))
    other.free(other.alloc(40 * MIB, 14))
    snapshot = story.snapshot(others=(other,))
    check_largest(detect, snapshot, 20 * MIB)
    check_largest(detect, snapshot, 12 * MIB, stream=7)
    check_largest(detect, snapshot, 0, stream=5)
    check_largest(detect, snapshot, 40 * MIB, device=1)
    detect.record()


def test_a_small_segment_serves_small_requests_only(detect: Any) -> None:
    """2 MiB free in the small pool serve 1 MiB at most; 1 MiB or less in the large pool serve nobody.

    zh: 小池里空闲 2 MiB，最多满足 1 MiB；大池里 1 MiB 及以下的空闲块谁也满足不了。
    """
    story = Story()
    story.free(story.alloc(600 * KIB, 11))
    check_largest(detect, story.snapshot(), MIB)
    kept = story.alloc(MIB, 11)
    story.alloc(MIB - 2048, 11)
    check_largest(detect, story.snapshot(), 2048)
    blocks = [
        story.alloc(9 * MIB, 12),
        story.alloc(8 * MIB, 12),
        story.alloc(MIB + 512, 12),
        story.alloc(MIB + 512, 13),
    ]
    story.free(blocks[2])
    check_largest(detect, story.snapshot(), MIB + 512)
    story.free(kept)
    check_largest(detect, story.snapshot(), MIB + 512)
    detect.record()


def test_a_large_block_of_one_mib_serves_nobody(detect: Any) -> None:
    """A request of 1 MiB goes to the small pool, so a free block of that size in the large pool is no use.

    zh: 1 MiB 的请求归小池，大池里这么大的空闲块没有用。
    """
    story = Story()
    story.alloc(12 * MIB, 11)
    block = story.segments[0]["blocks"][0]
    block["size"] = 11 * MIB
    tail = {"address": block["address"] + 11 * MIB, "size": MIB, "requested_size": 0, "state": "inactive", "frames": []}
    story.segments[0]["blocks"].append(tail)
    check_largest(detect, story.snapshot(), 0)
    detect.record()


def test_a_block_that_waits_is_not_free(detect: Any) -> None:
    """What another stream still uses can't be had, and holds its segment.

    zh: 别的流还在用的块拿不到，也占着段。
    """
    story = Story()
    story.free(story.alloc(15 * MIB, 11), is_complete=False)
    story.alloc(3 * MIB, 12)
    snapshot = story.snapshot()
    check_largest(detect, snapshot, 17 * MIB)
    expected = [
        (20 * MIB, 17 * MIB, 17 * MIB, (("serve.py:12", 3 * MIB),)),
        (16 * MIB, 0, 0, (("serve.py:11", 16 * MIB),)),
    ]
    check_reports(detect, snapshot, expected)
    detect.record()


def test_where_most_is_stranded_comes_first(detect: Any) -> None:
    """Stranded is what is free beside a block that holds the segment; an unused segment strands nothing.

    zh: 困住的是与占着段的块同处一段的空闲字节；没人用的段什么也没困住。
    """
    story = Story()
    pins = [story.alloc(5 * MIB, line) for line in (12, 13, 12, 14)]
    for at in (0, 2):
        story.free(pins[at])
    story.alloc(512, 15)
    story.free(story.alloc(40 * MIB, 11))
    small = 2 * MIB - 512
    expected = [
        (20 * MIB, 10 * MIB, 5 * MIB, (("serve.py:13", 5 * MIB), ("serve.py:14", 5 * MIB))),
        (2 * MIB, small, small, (("serve.py:15", 512),)),
        (40 * MIB, 40 * MIB, 40 * MIB, ()),
    ]
    check_reports(detect, story.snapshot(), expected)
    detect.record()


def test_holders_count_the_blocks_bytes(detect: Any) -> None:
    """What holds a segment counts with the block's size, rounded as it is, by site and most bytes first.

    zh: 占着段的块按块的大小计（已取整），按位置合计，字节多的在前。
    """
    story = Story()
    for size, line in ((100, 12), (600, 11), (513, 13), (1, 12), (512, 12)):
        story.alloc(size, line)
    story.alloc(700, 0, frames=[])
    holders = (("serve.py:12", 1536), ("(unknown)", 1024), ("serve.py:11", 1024), ("serve.py:13", 1024))
    free = 2 * MIB - 4608
    check_reports(detect, story.snapshot(), [(2 * MIB, free, free, holders)])
    check_reports(detect, Story().snapshot(), [])
    detect.record()


@pytest.mark.weight(2)
def test_random_segments_are_reported(detect: Any, rng: Any) -> None:
    """Both questions, asked of random states on two devices and streams.

    zh: 对两个设备、两个流上的随机状态问这两个问题。
    """
    for _ in range(6):
        story, other = tell(rng), tell(rng, 60, device=1)
        snapshot = story.snapshot(rng.randrange(50), others=(other,))
        for device in (0, 1):
            reports = detect.inspect_segments(snapshot, device)
            total = sum(it.free_bytes + sum(size for _, size in it.holders) for it in reports)
            segments = [it["total_size"] for it in snapshot["segments"] if it["device"] == device]
            what = ("Free bytes and holders don't add up to the segments", "空闲字节与占用者加起来不等于段的大小")
            detect.expect.equal(total, sum(segments), what, LOOK_SEGMENTS)
            for stream in (0, 7):
                detect.find_largest_request(snapshot, stream, device)
    detect.record()
