"""What holds after every call, whatever was called before."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

MIB = 1 << 20
GIB = 1 << 30
EDGES = (0, 1, 511, 512, 513, MIB - 1, MIB, MIB + 1, 9 * MIB, 10 * MIB - 512, 10 * MIB, 11 * MIB, 11 * MIB - 512)
SHOWN_STEPS = 20
SEARCH_S = 1.5  # how long a shorter failing sequence is looked for

Pair = tuple[str, str]


class Watch:
    """A player, the blocks it holds, and the rules that always hold."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.held: list[tuple[Any, int]] = []

    def malloc(self, size: int, stream: int) -> None:
        """Ask for a block; a refusal is right only when no segment is wholly free any more."""
        __tracebackhide__ = True
        try:
            block = self.game.malloc(size, stream)
        except MemoryError:
            self.game.refuse(size, stream)
            used = {addr for addr, _, is_used in self._blocks() if is_used}
            for base, length in self.game.driver.sizes.items():
                if not any(base <= addr < base + length for addr in used):
                    self._fail(
                        ("A request was refused while a segment was wholly free", "还有全空闲段，请求却被拒绝"), base
                    )
            return
        rounded = max(512, -(-size // 512) * 512)
        if not 0 <= block.size - rounded <= (0 if rounded <= MIB else MIB):
            self._fail(
                ("The block is smaller than the request, or keeps too much", "块小于请求，或保留的余量过多"), block.addr
            )
        self.held.append((block, stream))

    def free(self, at: int) -> None:
        """Free the block at ``at``, counted around."""
        __tracebackhide__ = True
        self.game.free(self.held.pop(at % len(self.held))[0])

    def check(self) -> None:
        """Compare the snapshot with itself, with what is held, and with what the driver gave."""
        __tracebackhide__ = True
        segments = self.game.allocator.snapshot()
        for before, after in pairwise(segments):
            if before[0] + before[1] > after[0]:
                self._fail(("Segments overlap, or are not sorted by base", "段有重叠，或没有按起始地址排序"), after[0])
        if {it[0]: it[1] for it in segments} != self.game.driver.sizes:
            self._fail(("snapshot() shows other segments than the driver gave", "snapshot() 中的段与驱动给出的不一致"))
        for segment in segments:
            self._check_segment(*segment)
        held = sorted((block.addr, block.size) for block, _ in self.held)
        if held != [(addr, size) for addr, size, is_used in self._blocks() if is_used]:
            self._fail(("Other blocks are allocated than were handed out", "快照中已分配的块与实际交出的块不一致"))
        if self.game.allocator.memory_allocated() != sum(size for _, size in held):
            self._fail(("memory_allocated() is not the sum of the blocks", "memory_allocated() 不等于各块之和"))
        if self.game.allocator.memory_reserved() != sum(it[1] for it in segments):
            self._fail(("memory_reserved() is not the sum of the segments", "memory_reserved() 不等于各段之和"))

    def _check_segment(self, base: int, size: int, stream: int, blocks: list[tuple[int, int, bool]]) -> None:
        __tracebackhide__ = True
        at, was_free = base, False
        streams = {block.addr: it for block, it in self.held}
        for addr, length, is_used in blocks:
            if addr != at or length <= 0 or length % 512:
                self._fail(
                    (
                        "The blocks of a segment must cover it without gap or overlap",
                        "段内的块应当无缝、无重叠地铺满整个段",
                    ),
                    addr,
                )
            if was_free and not is_used:
                self._fail(("Two free neighbours were not merged", "两个相邻的空闲块没有合并"), addr)
            if is_used and streams.get(addr, stream) != stream:
                self._fail(("A block lies in a segment of another stream", "块位于属于其他流的段中"), addr)
            if is_used and (length <= MIB) != (size == 2 * MIB):
                self._fail(("A block lies in a segment of the other pool", "块位于另一个池的段中"), addr)
            at, was_free = addr + length, not is_used
        if at != base + size:
            self._fail(
                (
                    "The blocks of a segment must cover it without gap or overlap",
                    "段内的块应当无缝、无重叠地铺满整个段",
                ),
                base,
            )

    def _blocks(self) -> list[tuple[int, int, bool]]:
        return [block for segment in self.game.allocator.snapshot() for block in segment[3]]

    def _fail(self, what: Pair, addr: int | None = None) -> None:
        __tracebackhide__ = True
        labels = self.game.labels
        steps = [f"{number:>4}. {label}" for number, label in enumerate(labels, 1)][-SHOWN_STEPS:]
        headings = ("calls so far:", "到此为止的调用：")
        if len(labels) > SHOWN_STEPS:
            headings = (
                f"the last {SHOWN_STEPS} of {len(labels)} calls:",
                f"共 {len(labels)} 次调用，最后 {SHOWN_STEPS} 次：",
            )
        drawn = self.game.draw(addr) if addr is not None else None
        english, chinese = (
            "\n".join([heading, *steps, part]) for heading, part in zip(headings, drawn or ("", ""), strict=True)
        )
        look = ("The calls that led here stand above; play them by hand.", "导致问题的调用见上，请逐步手工推演。")
        self.game.expect.fail(what, look=look, picture=(english, chinese))


class SearchEnded(BaseException):
    """A failing sequence is known, and the time to find a shorter one is over."""


class Search:
    """Keeps the failure that took the fewest calls, and ends the search for a shorter one in time."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self._calls = 0
        self._until_s = 0.0

    @contextmanager
    def step(self, game: Any) -> Iterator[None]:
        """Watch one call."""
        if self.failure is not None and time.monotonic() > self._until_s:
            raise SearchEnded
        try:
            yield
        except Exception as fault:
            if self.failure is None:
                self._until_s = time.monotonic() + SEARCH_S
            if self.failure is None or len(game.labels) <= self._calls:
                self.failure, self._calls = fault, len(game.labels)
            raise


@pytest.mark.weight(4)
def test_the_books_are_true_after_every_call(play: Callable[..., Any], rng: Random) -> None:
    """After any calls: blocks tile segments, free neighbours are merged, and all figures agree.

    zh: 无论怎样调用：块铺满段，相邻空闲块已合并，各项数字相互一致。
    """
    search = Search()

    class Machine(RuleBasedStateMachine):
        """Calls in any order; hypothesis looks for the shortest that break a rule."""

        def __init__(self) -> None:
            super().__init__()
            self.watch = Watch(
                play(may_be_refused=True, capacity=70 * MIB, bases=[at * MIB for at in (400, 200, 300, 0, 100)])
            )

        @rule(size=st.sampled_from(EDGES) | st.integers(0, 14 * MIB), stream=st.sampled_from((0, 1, 7)))
        def malloc(self, size: int, stream: int) -> None:
            with search.step(self.watch.game):
                self.watch.malloc(size, stream)
                self.watch.check()

        @precondition(lambda self: self.watch.held)
        @rule(at=st.integers(0, 99))
        def free(self, at: int) -> None:
            with search.step(self.watch.game):
                self.watch.free(at)
                self.watch.check()

        @rule()
        def empty_cache(self) -> None:
            with search.step(self.watch.game):
                self.watch.game.empty_cache()
                self.watch.check()

    # One bug at a time: several would come as a group, in which none is the first.
    quick = settings(max_examples=25, stateful_step_count=30, report_multiple_bugs=False, print_blob=False)
    try:
        run_state_machine_as_test(Machine, settings=quick)
    except (Exception, SearchEnded):
        if search.failure is None:
            raise
        raise search.failure from None
    play_at_random(play(may_be_refused=True, capacity=70 * MIB), rng, 100, 14 * MIB)


def play_at_random(game: Any, rng: Random, calls: int, largest: int) -> None:
    """Make calls drawn from ``rng`` and record what they decided."""
    __tracebackhide__ = True
    watch = Watch(game)
    for number in range(calls):
        turn = rng.random()
        if turn < 0.02:
            game.empty_cache()
        elif turn < 0.45 and watch.held:
            watch.free(rng.randrange(len(watch.held)))
        else:
            size = rng.choice(EDGES) if rng.random() < 0.2 else int(largest ** rng.random())
            watch.malloc(size, rng.choice((0, 0, 1, 7)))
        if number % 16 == 0:
            watch.check()
    watch.check()
    game.snapshot()
    game.record()


@pytest.mark.weight(3)
@pytest.mark.parametrize(
    ("largest", "capacity"),
    [(8 << 10, 1 << 50), (MIB + 4096, 1 << 50), (64 * MIB, 1 << 50), (24 * MIB, 128 * MIB)],
    ids=["tiny", "small", "large", "tight"],
)
def test_random_traces_end_as_the_references(
    play: Callable[..., Any], rng: Random, largest: int, capacity: int
) -> None:
    """Calls drawn anew for each run end exactly as with the reference, on addresses that come in any order.

    zh: 每次评测都重新随机生成的调用，结果与参考解完全一致；段地址的先后顺序也是随机的。
    """
    bases = [number * GIB for number in range(400)]
    rng.shuffle(bases)
    play_at_random(play(may_be_refused=True, capacity=capacity, bases=bases), rng, 300, largest)
