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
from support_map import draw_map

KIB = 1 << 10
MIB = 1 << 20
GOLDEN = Path(__file__).parent / "goldens" / "alloc_traces.json.gz"
KINDS = ("tiny", "small", "large", "edge", "huge", "mixed")
FIGURES = {"reserved": "memory_reserved()", "addr": "addr", "size": "size", "allocated": "memory_allocated()"}

REAL, YOURS = ("real GPU", "真实 GPU"), ("yours", "你的")

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

    def free_at(self, addr: int) -> tuple[int, int]:
        """Return address and size of the free block that holds ``addr``, or (0, 0)."""
        segment = self.find_segment(addr)
        blocks = self.blocks_of(segment) if segment else ()
        return next(((at, size) for at, size, used in blocks if at <= addr < at + size and not used), (0, 0))


@pytest.fixture(scope="module")
def traces() -> list[dict[str, Any]]:
    """Return all traces; each carries its number, counted from 1."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as file:
        found: list[dict[str, Any]] = json.load(file)["traces"]
    return [{**trace, "number": number} for number, trace in enumerate(found, 1)]


@pytest.mark.weight(4)
@pytest.mark.parametrize("kind", KINDS)
def test_every_decision_is_the_real_gpus(
    play: Callable[..., Any], expect: Any, evidence: Any, traces: list[dict[str, Any]], kind: str
) -> None:
    """Each malloc, free and empty_cache of the recorded traces ends as it did on the H200, and so does the snapshot.

    zh: 录制轨迹中的每次 malloc、free 与 empty_cache 都与 H200 上的结果一致，最后的快照也一致。
    """
    decisions, labels = [], []
    for trace in traces:
        if trace["kind"] == kind:
            game = replay(trace, play, expect)
            compare_ends(trace, game.snapshot(), expect)
            decisions += game.decisions
            labels += [f"of trace {trace['number']}, {label}" for label in game.labels]
    evidence.exact("decisions", decisions, labels=labels)


def replay(trace: dict[str, Any], play: Callable[..., Any], expect: Any) -> Any:
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
                actual, wanted = (hex(it[name]) if name == "addr" else str(it[name]) for it in (game.last, expected))
                what = (
                    f"{place[0]}, {game.last_label}: {figure} is {actual}, expected {wanted}",
                    f"{place[1]} {game.last_label}：{figure} 为 {actual}，应为 {wanted}",
                )
                look = find_look(truth, event, game.last)
                addr = truth.live.get(event[1], (None,))[0] if event[0] == "free" else expected.get("addr")
                truth.follow(event)
                expect.fail(what, wanted, actual, look=look, picture=draw(game, truth, addr))
        truth.follow(event)
    return game


def find_look(truth: Truth, event: Event, actual: dict[str, Any]) -> Pair:
    """Return what to look at, from the kind of the difference; ``truth`` is as before the event."""
    if event[0] == "malloc":
        return find_look_at_malloc(truth, event, actual)
    if event[0] == "empty_cache":
        return (
            "Which segments have no block in use, over all pools and streams?",
            "在所有池和流中，哪些段没有任何块在使用？",
        )
    if actual["reserved"] != event[-1]:
        return (
            "free() keeps the segment: only empty_cache() and a refusal give segments back.",
            "free() 保留段：只有 empty_cache() 和驱动拒绝时才归还。",
        )
    return (
        "What comes off is the block's own size, a remainder that was not cut off included.",
        "减去的是块本身的大小，包括当初没有切掉的余量。",
    )


def find_look_at_malloc(truth: Truth, event: Event, actual: dict[str, Any]) -> Pair:
    """Return what to look at when a malloc went otherwise: the driver, the choice of block, or the cut."""
    _, _, wanted, stream, addr, allocated, reserved = event
    is_new, should_be_new = actual["reserved"] > truth.reserved, reserved > truth.reserved
    best = truth.free_at(addr)
    if is_new and not should_be_new:
        return (
            f"A free block of {best[1]} bytes at {best[0]:#x} would have served. Were its parts merged? Was it found?",
            f"{best[0]:#x} 处有 {best[1]} 字节的空闲块可用。它的各部分合并了吗？查找时找到它了吗？",
        )
    if is_new and actual["reserved"] != reserved:
        return ("Which size does a new segment have for this request?", "对这个请求，新段应当多大？")
    if actual["addr"] != addr:
        return find_look_at_choice(truth, wanted, stream, best, actual["addr"])
    if actual["size"] == allocated - truth.allocated:
        return ("What counts is the size of the block, not of the request.", "计入的是块的大小，不是请求的大小。")
    if actual["size"] > allocated - truth.allocated:
        return ("From which remainder on is a block of this pool cut?", "这个池的块，余量多大才切？")
    return (
        "The remainder is too small to be cut off: the whole block is given, and counted.",
        "余量太小，不应切开：整块给出，并按整块计数。",
    )


def find_look_at_choice(truth: Truth, wanted: int, stream: int, best: tuple[int, int], addr: int) -> Pair:
    """Return what to look at when the block at ``addr`` was taken; ``best`` is the GPU's choice, (0, 0) if new."""
    segment = truth.find_segment(addr)
    if segment is not None and segment.stream != stream:
        return (
            f"The block lies in a segment of stream {segment.stream}; the request is on stream {stream}.",
            f"这个块所在的段属于 {segment.stream} 号流，而请求在 {stream} 号流上。",
        )
    if segment is not None and (segment.size == 2 * MIB) != (wanted <= MIB):
        return ("The block lies in a segment of the other pool.", "这个块所在的段属于另一个池。")
    taken = truth.free_at(addr)
    if segment is None or not taken[1] or not best[1]:
        return ("What was handed out there is not free, or too small.", "在那里交出的内存并不空闲，或者不够大。")
    if taken[0] == best[0]:
        return (
            f"At {best[0]:#x} lies one free block of {best[1]} bytes, used from its start. Were its parts merged?",
            f"{best[0]:#x} 处是一整个 {best[1]} 字节的空闲块，应从头用起。它的各部分合并了吗？",
        )
    if taken[1] == best[1]:
        return (
            f"Two free blocks of {best[1]} bytes: the lowest address wins.",
            f"两个 {best[1]} 字节的空闲块：取地址最低的。",
        )
    return (
        f"Best fit: a free block of {best[1]} bytes would do, one of {taken[1]} bytes was taken.",
        f"最佳适配：{best[1]} 字节的空闲块就够，却取了 {taken[1]} 字节的。",
    )


def draw(game: Any, truth: Truth, addr: int | None) -> Pair | None:
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
    inside = [
        block for it in shown.values() for block in it[3] if segment.base <= block[0] < segment.base + segment.size
    ]
    return draw_map(segment, addr, {REAL: list(truth.blocks_of(segment)), YOURS: inside})


def compare_ends(trace: dict[str, Any], segments: list[Any], expect: Any) -> None:
    """Compare the final snapshot with the GPU's, segment by segment."""
    expected = [
        (
            it["addr"],
            it["size"],
            it["stream"],
            [(addr, size, state != "inactive") for addr, size, _, state in it["blocks"]],
        )
        for it in trace["final"]
    ]
    place = (f"At the end of trace {trace['number']}", f"轨迹 {trace['number']} 结束时")
    look = ("Are free neighbours merged, segments sorted by base?", "相邻的空闲块合并了吗？段按起始地址排序了吗？")
    for at, (actual, segment) in enumerate(zip(segments, expected, strict=False), 1):
        what = (f"{place[0]}, segment {at} of snapshot() differs", f"{place[1]}，snapshot() 的第 {at} 个段不同")
        expect.equal(actual, segment, what, look)
    what = (f"{place[0]}, snapshot() has the wrong number of segments", f"{place[1]}，snapshot() 的段数不对")
    expect.equal(len(segments), len(expected), what, look)
