"""Thirty traces of the real allocator on an H200, replayed decision by decision.

Where they come from stands in ``goldens/README.md``. The driver hands out the GPU's own segment addresses in
order of creation: a malloc after which memory_reserved() has grown made a segment, and its block lies at the base.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

KIB = 1 << 10
MIB = 1 << 20
GOLDEN = Path(__file__).parent / "goldens" / "alloc_traces.json.gz"
KINDS = ("tiny", "small", "large", "edge", "huge", "mixed")
FIGURES = {"reserved": "memory_reserved()", "addr": "addr", "size": "size", "allocated": "memory_allocated()"}

Event = list[Any]
Pair = tuple[str, str]


class Segment(NamedTuple):
    """A segment of the real GPU."""

    base: int
    size: int
    stream: int


class Truth:
    """What the real GPU held, before the event that comes next."""

    def __init__(self) -> None:
        self.segments: dict[int, Segment] = {}
        self.live: dict[int, tuple[int, int]] = {}
        self.allocated = 0
        self.reserved = 0

    def expect(self, event: Event) -> dict[str, int]:
        """Return what must hold after ``event``."""
        expected = {"allocated": event[-2], "reserved": event[-1]}
        if event[0] == "malloc":
            expected |= {"addr": event[4], "size": event[5] - self.allocated}
        return expected

    def follow(self, event: Event) -> None:
        """Go on to the state after ``event``."""
        if event[0] == "malloc":
            _, number, _, stream, addr, allocated, reserved = event
            if reserved > self.reserved:
                self.segments[addr] = Segment(addr, reserved - self.reserved, stream)
            self.live[number] = (addr, allocated - self.allocated)
        elif event[0] == "free":
            del self.live[event[1]]
        else:
            self.segments = {base: it for base, it in self.segments.items() if any(self.blocks_of(it, live_only=True))}
        self.allocated, self.reserved = event[-2:]

    def find_segment(self, addr: int) -> Segment | None:
        """Return the segment that holds ``addr``."""
        return next((it for it in self.segments.values() if it.base <= addr < it.base + it.size), None)

    def blocks_of(self, segment: Segment, live_only: bool = False) -> Iterator[tuple[int, int, bool]]:
        """Yield a segment's blocks by address; what lies between live ones is one free block."""
        at, end = segment.base, segment.base + segment.size
        for addr, size in sorted(block for block in self.live.values() if segment.base <= block[0] < end):
            if addr > at and not live_only:
                yield at, addr - at, False
            yield addr, size, True
            at = addr + size
        if at < end and not live_only:
            yield at, end - at, False

    def free_size_at(self, addr: int) -> int:
        """Return the size of the free block that holds ``addr``, or 0."""
        segment = self.find_segment(addr)
        blocks = self.blocks_of(segment) if segment else ()
        return next((size for at, size, used in blocks if at <= addr < at + size and not used), 0)


@pytest.fixture(scope="module")
def traces() -> list[dict[str, Any]]:
    """Return all traces; each carries its number, counted from 1."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as file:
        found: list[dict[str, Any]] = json.load(file)["traces"]
    return [{**trace, "number": number} for number, trace in enumerate(found, 1)]


@pytest.mark.weight(4)
@pytest.mark.parametrize("kind", KINDS)
def test_every_decision_is_the_real_gpus(
    play: Callable[..., Any], expect: Any, evidence: Any, draw_map: Any, traces: list[dict[str, Any]], kind: str
) -> None:
    """Each malloc, free and empty_cache of the recorded traces ends as it did on the H200, and so does the snapshot.

    zh: 录制轨迹中的每次 malloc、free 与 empty_cache 都与 H200 上的结果一致，最后的快照也一致。
    """
    decisions, labels = [], []
    for trace in traces:
        if trace["kind"] == kind:
            game = replay(trace, play, expect, draw_map)
            compare_ends(trace, game.snapshot(), expect)
            decisions += game.decisions
            labels += [f"of trace {trace['number']}, {label}" for label in game.labels]
    evidence.exact("decisions", decisions, labels=labels)


def replay(trace: dict[str, Any], play: Callable[..., Any], expect: Any, draw_map: Any) -> Any:
    """Play a trace's events, and stop at the first that ends otherwise than on the GPU."""
    reserved = [0, *(event[-1] for event in trace["events"])]
    bases = [event[4] for event, before in zip(trace["events"], reserved, strict=False) if event[-1] > before]
    game, truth = play(bases=bases), Truth()
    blocks: dict[int, Any] = {}
    for number, event in enumerate(trace["events"], 1):
        if event[0] == "malloc":
            blocks[event[1]] = game.malloc(event[2], event[3], number=event[1])
        elif event[0] == "free":
            game.free(blocks.pop(event[1]))
        else:
            game.empty_cache()
        expected = truth.expect(event)
        for name, figure in FIGURES.items():
            if name in expected and game.last[name] != expected[name]:
                place = (f"Event {number} of trace {trace['number']}", f"轨迹 {trace['number']} 的第 {number} 个事件")
                label, actual = game.last_label, game.last[name]
                what = (
                    f"{place[0]}, {label}: {figure} is {actual}, expected {expected[name]}",
                    f"{place[1]} {label}：{figure} 为 {actual}，应为 {expected[name]}",
                )
                look = find_look(truth, event, game.last)
                truth.follow(event)
                picture = draw(game, truth, expected.get("addr"), draw_map)
                expect.fail(what, expected[name], actual, look=look, picture=picture)
        truth.follow(event)
    return game


def find_look(truth: Truth, event: Event, actual: dict[str, Any]) -> Pair:
    """Return what to look at, from the kind of the difference; ``truth`` is as before the event."""
    if event[0] == "free":
        if actual["reserved"] != event[-1]:
            return ("free() keeps the segment: only empty_cache() and a refusal give back.", "free() 保留段：只有 empty_cache() 和驱动拒绝时才归还。")
        return ("Is the size that comes off the block's own, the rest it kept included?", "减去的是不是块本身的大小，包括没有切掉的余量？")
    if event[0] == "empty_cache":
        return ("Which segments have no block in use, over all pools and streams?", "在所有池和流中，哪些段没有任何块在使用？")
    _, _, wanted, stream, addr, _, reserved = event
    is_new, should_be_new = actual["reserved"] > truth.reserved, reserved > truth.reserved
    if is_new and should_be_new:
        if actual["reserved"] != reserved:
            return ("Which size does a new segment have for this request?", "对这个请求，新段应当多大？")
    elif is_new:
        fit = truth.free_size_at(addr)
        return (
            f"A free block of {fit} bytes at {addr:#x} would have served. Were its parts merged? Was it searched for?",
            f"地址 {addr:#x} 处有 {fit} 字节的空闲块可用。它的各部分合并了吗？查找时看到它了吗？",
        )
    segment = truth.find_segment(actual["addr"])
    if actual["addr"] != addr and segment is not None:
        if segment.stream != stream:
            return (
                f"The block lies in a segment of stream {segment.stream}; the request is on stream {stream}.",
                f"这个块所在的段属于 {segment.stream} 号流，而请求在 {stream} 号流上。",
            )
        if (segment.size == 2 * MIB) != (wanted <= MIB):
            return ("The block lies in a segment of the other pool.", "这个块所在的段属于另一个池。")
        if should_be_new:
            return ("That block is too small, or in use.", "那个块不够大，或者仍在使用。")
        taken, best = truth.free_size_at(actual["addr"]), truth.free_size_at(addr)
        if taken == best:
            return (f"Two free blocks of {best} bytes: the lowest address wins.", f"有两个 {best} 字节的空闲块：取地址最低的。")
        return (
            f"Best fit: a free block of {best} bytes would do, one of {taken} bytes was taken.",
            f"最佳适配：{best} 字节的空闲块就够，却取了 {taken} 字节的。",
        )
    if actual["size"] > event[5] - truth.allocated:
        return ("The rest is worth cutting off: from which rest on is a block of this pool cut?", "余量应当切下：这个池的块余量多大才切？")
    return ("The rest is too small to be cut off: the whole block is given, and counted.", "余量太小，不应切开：整块给出，并按整块计数。")


def draw(game: Any, truth: Truth, addr: int | None, draw_map: Any) -> str | None:
    """Return a map of the segment in question, the GPU's blocks beside the solution's."""
    try:
        shown = {segment[0]: segment for segment in game.allocator.snapshot()}
    except Exception:  # a map is a courtesy: what failed before is the news
        return None
    if addr is None:
        odd = sorted(shown.keys() ^ truth.segments.keys()) or sorted(truth.segments)
        addr = odd[0] if odd else 0
    segment = truth.find_segment(addr)
    if segment is None:
        return None
    inside = [block for it in shown.values() for block in it[3] if segment.base <= block[0] < segment.base + segment.size]
    return str(draw_map(segment, addr, {"real GPU": list(truth.blocks_of(segment)), "yours": inside}))


def compare_ends(trace: dict[str, Any], segments: list[Any], expect: Any) -> None:
    """Compare the final snapshot with the GPU's, segment by segment."""
    expected = [
        (it["addr"], it["size"], it["stream"], [(addr, size, state != "inactive") for addr, size, _, state in it["blocks"]])
        for it in trace["final"]
    ]
    place = (f"At the end of trace {trace['number']}", f"轨迹 {trace['number']} 结束时")
    look = ("Are free neighbours merged, segments sorted by base?", "相邻的空闲块合并了吗？段按起始地址排序了吗？")
    for at, (actual, segment) in enumerate(zip(segments, expected, strict=False), 1):
        what = (f"{place[0]}, segment {at} of snapshot() differs", f"{place[1]}，snapshot() 的第 {at} 个段不同")
        expect.equal(actual, segment, what, look)
    what = (f"{place[0]}, snapshot() has the wrong number of segments", f"{place[1]}，snapshot() 的段数不对")
    expect.equal(len(segments), len(expected), what, look)
