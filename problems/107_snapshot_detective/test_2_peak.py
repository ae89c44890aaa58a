"""When most bytes were allocated, and who owned them then."""

from __future__ import annotations

from typing import Any

import pytest
from support_map import draw_curve
from support_story import KIB, MIB, Story, tell

BEFORE = "(before the trace)"
LOOKS: dict[str, tuple[str, str]] = {
    "size_bytes": (
        "What was allocated before the first event? From there on alloc adds its size, free_requested takes it off.",
        "第一个事件之前已经分配了多少？从那里起，alloc 加上它的大小，free_requested 减去它的大小。",
    ),
    "event": ("The first moment counts at which the peak is reached.", "取第一次达到峰值的时刻。"),
    "owners": (
        "Who owned a byte at that moment: the last alloc at its address, else the snapshot's block, else nobody known.",
        "那一刻的字节归谁：该地址上最近的一次 alloc；没有就看快照里的块；再没有就是未知。",
    ),
}


def check(detect: Any, story: Story, cut: int = 0, device: int = 0, others: tuple[Story, ...] = ()) -> None:
    """Compare the solution's peak with the truth."""
    __tracebackhide__ = True
    snapshot = story.snapshot(cut, others)
    found = detect.find_peak(snapshot, device)
    truth = dict(zip(("size_bytes", "event", "owners"), find_truth(story, cut), strict=True))
    for name, expected in truth.items():
        actual = getattr(found, name)
        what = (f"{name} of the peak is {actual}, expected {expected}", f"峰值的 {name} 为 {actual}，应为 {expected}")
        at = found.event if type(found.event) is int else -1
        picture = draw_curve(snapshot, device, truth["event"], at)
        detect.expect.equal(actual, expected, what, LOOKS[name], picture)


def find_truth(story: Story, cut: int) -> tuple[int, int, tuple[tuple[str, int], ...]]:
    """Return bytes, event and owners from what the story knows of every moment."""
    sizes = [sum(size for size, _ in state.values()) for state in story.states[cut:]]
    at = sizes.index(max(sizes))
    owners: dict[str, int] = {}
    for addr, (size, born) in story.states[cut + at].items():
        is_known = born >= cut or story.states[-1].get(addr) == (size, born)
        frames = story.trace[born]["frames"]
        site = (f"serve.py:{frames[-2]['line']}" if frames else "(unknown)") if is_known else BEFORE
        owners[site] = owners.get(site, 0) + size
    return sizes[at], at - 1, tuple(sorted(owners.items(), key=lambda it: (-it[1], it[0])))


def test_the_peak_is_not_the_end(detect: Any) -> None:
    """Owners are those of the peak; what came later, or was gone by then, does not count.

    zh: 所有者是峰值那一刻的；之后才来的、当时已经走了的，都不算。
    """
    story = Story()
    gone = story.alloc(9 * MIB, 11)
    story.free(gone)
    weights = story.alloc(5 * MIB, 12)
    scratch = story.alloc(6 * MIB, 13)
    story.alloc(700, 12)
    story.free(scratch)
    story.alloc(2 * MIB, 14)
    story.free(weights)
    check(detect, story)
    detect.record()


def test_the_first_of_equal_peaks_counts(detect: Any) -> None:
    """Where the peak is reached twice, it is the first time.

    zh: 两次达到峰值时，取第一次。
    """
    story = Story()
    for line in (11, 12, 13):
        story.free(story.alloc(4 * MIB, line))
    check(detect, story)
    detect.record()


def test_an_address_has_one_owner_after_the_other(detect: Any) -> None:
    """A block is handed out again at the same address: its owner is whoever had it at the peak.

    zh: 同一地址再次分配：所有者是峰值那一刻拿着它的人。
    """
    story = Story()
    first = story.alloc(4 * MIB, 11)
    story.free(first)
    second = story.alloc(3 * MIB, 12)
    story.alloc(5 * MIB, 13)
    story.free(second)
    story.alloc(2 * MIB, 14)
    check(detect, story)
    detect.record()


def test_a_free_counts_when_it_is_requested(detect: Any) -> None:
    """A block that waits for another stream has no owner any more; free_completed changes nothing.

    zh: 在等其他流的块已经没有主人；free_completed 不改变任何东西。
    """
    story = Story()
    story.free(story.alloc(8 * MIB, 11), is_complete=False)
    story.alloc(6 * MIB, 12)
    check(detect, story)
    detect.record()


def test_a_block_without_any_event_was_there_before(detect: Any) -> None:
    """A ring buffer that has lost its beginning: what is alive and not in the trace counts, with the block's frames.

    zh: 环形缓冲区丢掉了开头：仍然活着而轨迹里没有的块也要算，用块自己的栈帧。
    """
    story = Story()
    story.alloc(30 * MIB, 11)
    cut = len(story.trace)
    story.free(story.alloc(4 * MIB, 12))
    check(detect, story, cut)
    detect.record()


def test_a_free_without_an_alloc_tells_of_an_earlier_block(detect: Any) -> None:
    """What is freed in the trace, but was not allocated in it, was there before; its owner is not known.

    zh: 在轨迹里释放、却不是在轨迹里分配的块，之前就有；所有者未知。
    """
    story = Story()
    early = story.alloc(30 * MIB, 11)
    cut = len(story.trace)
    story.alloc(4 * MIB, 12)
    story.free(early)
    story.alloc(24 * MIB, 13)
    check(detect, story, cut)
    detect.record()


def test_bytes_are_those_requested(detect: Any) -> None:
    """The trace counts requested bytes, so blocks from before count as requested too, not with their rounded size.

    zh: 轨迹里是请求的字节数，因此之前就有的块也按请求计，不按取整后的大小计。
    """
    story = Story()
    story.alloc(1000, 11)
    story.alloc(MIB + 1, 11)
    story.alloc(700, 12)
    check(detect, story)
    check(detect, story, cut=4)
    detect.record()


def test_the_peak_may_lie_before_the_trace(detect: Any) -> None:
    """If nothing rises above what was there at the start, the event is -1.

    zh: 如果始终没有超过开始时的水平，event 为 -1。
    """
    story = Story()
    blocks = [story.alloc(3 * MIB, line) for line in (11, 12, 13)]
    cut = len(story.trace)
    for block in blocks[:2]:
        story.free(block)
    story.alloc(KIB, 14)
    check(detect, story, cut)
    check(detect, story, len(story.trace))
    check(detect, Story())
    detect.record()


def test_each_device_has_its_own_trace(detect: Any, rng: Any) -> None:
    """Traces and segments of the other devices have no part in it.

    zh: 其他设备的轨迹和段都不参与。
    """
    stories = [tell(rng, 40, device) for device in range(3)]
    for story in stories:
        others = tuple(it for it in stories if it is not story)
        check(detect, story, cut=8, device=story.device, others=others)
    detect.record()


@pytest.mark.weight(3)
@pytest.mark.parametrize("share", [0, 0.3, 0.7], ids=["whole", "cut", "cut_late"])
def test_random_stories_are_solved(detect: Any, rng: Any, share: float) -> None:
    """Bytes, event and owners of random stories, whole and with a lost beginning.

    zh: 随机生成的经历，完整的和丢掉开头的，其峰值的字节数、事件和所有者。
    """
    for _ in range(8):
        story = tell(rng)
        check(detect, story, int(share * len(story.trace)))
    detect.record()
