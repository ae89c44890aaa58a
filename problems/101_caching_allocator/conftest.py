"""What the tests of this problem share: a player that calls the solution, checks it and writes it down."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from types import ModuleType
from typing import Any

import pytest
from support_driver import ObedientDriver
from support_map import ACTUAL, draw_map, find_odd_part

Pair = tuple[str, str]

NAMES: dict[str, Pair] = {
    "addr": ("the block's address", "块的地址"),
    "size": ("the block's size", "块的大小"),
    "allocated": ("memory_allocated()", "memory_allocated() "),
    "reserved": ("memory_reserved()", "memory_reserved() "),
}
LOOKS: dict[str, Pair] = {
    "addr": (
        "Which sufficient free block is the smallest, and which of equals lies lowest? It is used from its start.",
        "够用的空闲块里哪个最小？一样大时哪个地址最低？块从头用起。",
    ),
    "size": (
        "Which remainder is cut off in this pool, and which one stays with the block (rule 6)?",
        "这个池里，多大的余量要切下来，多大的留在块里（规则 6）？",
    ),
    "allocated": (
        "What counts are the sizes of the blocks that are handed out now, not those of the requests.",
        "计入的是此刻已交出的块的大小，不是请求的大小。",
    ),
    "reserved": (
        "Every segment held from the driver counts, with or without a block in use.",
        "从驱动拿来、尚未归还的每个段都要计入，不论有没有块在用。",
    ),
    "driver": (
        "Was there a free block that would do? Else: which segment must be asked for, which may go back?",
        "有没有够用的空闲块？如果没有：该向驱动要多大的段，又该归还哪些段？",
    ),
}
LOOK_REFUSED: Pair = (
    "A second MemoryError of the driver goes on to the caller (rule 8), and no request is cut down to what is left.",
    "驱动再次抛出的 MemoryError 要交给调用者（规则 8）；也不能拿不够大的内存来应付请求。",
)
LOOK_FIRST_TRY: Pair = (
    "One refusal is not the end: give back every segment without a block in use, then ask once more (rule 8).",
    "驱动拒绝一次并不算完：先归还所有没有块在用的段，然后再问一次（规则 8）。",
)
LOOK_GIVE_BACK: Pair = (
    "Which segments had no block in use? Did all of them go back, of every pool and stream, before the second try?",
    "哪些段里没有块在用？第二次询问之前，所有池、所有流的这种段都归还了吗？",
)
LOOK_UNKNOWN: Pair = (
    "Only what malloc() returned and nobody has freed since may be freed: do addr and size both match the books?",
    "只有 malloc() 返回过、此后没有释放的块才能释放：addr 和 size 都与账目对得上吗？",
)


class Player:
    """Calls the solution, checks what it returns strictly by type, and writes every decision down.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        driver: the driver that the allocator gets.
        may_be_refused: whether a ``MemoryError`` is for the test to judge, not a failure at once.
    """

    def __init__(
        self, solution: ModuleType, expect: Any, evidence: Any, driver: Any, may_be_refused: bool = False
    ) -> None:
        self.solution = solution
        self.expect = expect
        self.evidence = evidence
        self.driver = driver
        self.may_be_refused = may_be_refused
        self.allocator = solution.CachingAllocator(driver)
        self.last_label = ""
        self.last: dict[str, Any] = {}
        self.decisions: list[dict[str, Any]] = []
        self.labels: list[str] = []
        self.numbers: dict[tuple[int, int], int] = {}
        self._next_number = count()
        self._touched: int | None = None

    def malloc(self, size: int, stream: int = 0, number: int | None = None) -> Any:
        """Return the solution's block; ``number`` is its name in messages."""
        __tracebackhide__ = True
        label = f"malloc({size})" if stream == 0 else f"malloc({size}, stream={stream})"
        try:
            block = self._call_malloc(size, stream)
        except MemoryError as refusal:
            if self.may_be_refused:
                raise
            self._fail_refused(label, refusal)
        addr, block_size = getattr(block, "addr", None), getattr(block, "size", None)
        if type(block) is not self.solution.Block or type(addr) is not int or type(block_size) is not int:
            self.expect.fail(
                (f"{label} must return a Block of two ints", f"{label} 应返回由两个 int 组成的 Block"),
                expected="Block(addr=<int>, size=<int>)",
                actual=repr(block),
                look=("Block is given in the stub: Block(addr, size).", "Block 在骨架中已给出：Block(addr, size)。"),
            )
        self.numbers[addr, block_size] = next(self._next_number) if number is None else number
        self._touched = addr
        self._note(label, {"addr": addr, "size": block_size})
        return block

    def refuse(
        self, size: int, stream: int = 0, error: type[BaseException] = MemoryError, look: Pair = LOOK_REFUSED
    ) -> BaseException:
        """Return the exception with which a request must fail."""
        __tracebackhide__ = True
        label = f"malloc({size}, stream={stream})"
        self._touched = None
        name = error.__name__
        what = (f"{label} must raise {name}", f"{label} 应当抛出 {name}")
        raised = self.expect.raises(error, partial(self._call_malloc, size, stream), what, look)
        self._note(label, {"raises": name})
        return raised

    def free(self, block: Any) -> None:
        """Free a block."""
        __tracebackhide__ = True
        label = f"free(block {self.numbers.pop((block.addr, block.size), '?')})"
        self._touched = block.addr
        self._call_void(label, partial(self.allocator.free, block))

    def refuse_free(self, block: Any, what: Pair, look: Pair = LOOK_UNKNOWN) -> None:
        """Free what isn't allocated: a ``ValueError``, and nothing has changed."""
        __tracebackhide__ = True
        before = self.snapshot()
        self.expect.raises(ValueError, partial(self.allocator.free, block), what, look)
        self._note(f"free({block.addr}, {block.size})", {"raises": "ValueError"})
        changed = ("A refused free() changed something", "被拒绝的 free() 改动了状态")
        self.expect.equal(
            self.snapshot(), before, changed, ("Check first, change the books after.", "先检查，再改账目。")
        )

    def empty_cache(self) -> None:
        """Call ``empty_cache``."""
        __tracebackhide__ = True
        self._touched = None
        self._call_void("empty_cache()", self.allocator.empty_cache)

    def snapshot(self) -> list[Any]:
        """Return the snapshot, once its types have been found right; it is written down too."""
        __tracebackhide__ = True
        segments = self.allocator.snapshot()
        odd = find_odd_part(segments)
        if odd is not None:
            place, wanted, has = odd
            self.expect.fail(
                (f"{place} has another type than in the statement", f"{place} 的类型与题面不符"),
                wanted,
                has,
                look=(
                    "[(base, size, stream, [(addr, size, allocated), …]), …]: lists of tuples of ints, and one bool.",
                    "[(base, size, stream, [(addr, size, allocated), …]), …]：列表里是元组，元组里是 int 和一个 bool。",
                ),
            )
        self.decisions.append(
            {"snapshot": [[*segment[:3], [list(block) for block in segment[3]]] for segment in segments]}
        )
        self.labels.append("snapshot()")
        return segments

    def check(self, look: Pair | None = None, **expected: Any) -> None:
        """Compare what the last call but ``snapshot`` decided: addr, size, allocated, reserved, driver."""
        __tracebackhide__ = True
        actual = {"driver": [], **self.last}
        for name, value in expected.items():
            if actual[name] != value:
                what = _say_difference(self.last_label, name, actual[name], value)
                wanted = self.draw(value) if name == "addr" else None
                picture = wanted or self.draw(self._touched)
                self.expect.fail(what, value, actual[name], look=look or LOOKS[name], picture=picture)

    def record(self) -> None:
        """Hand the decisions over as evidence."""
        self.evidence.exact("decisions", self.decisions, labels=self.labels)

    def draw(self, addr: int | None) -> Pair | None:
        """Return a map of the segment that holds ``addr``, else of the first, after the solution's own snapshot."""
        try:
            segments = self.allocator.snapshot()
        except Exception:  # a map is a courtesy: what failed before is the news
            return None
        if find_odd_part(segments) is not None:
            return None
        for base, size, stream, blocks in segments:
            if addr is None or base <= addr < base + size:
                return draw_map((base, size, stream), base if addr is None else addr, {ACTUAL: blocks})
        return None

    def _call_malloc(self, size: int, stream: int) -> Any:
        __tracebackhide__ = True
        return self.allocator.malloc(size) if stream == 0 else self.allocator.malloc(size, stream=stream)

    def _call_void(self, label: str, call: Callable[[], Any]) -> None:
        __tracebackhide__ = True
        result = call()
        if result is not None:
            self.expect.fail((f"{label} must return None", f"{label} 应当返回 None"), None, result)
        self._note(label, {})

    def _fail_refused(self, label: str, refusal: MemoryError) -> None:
        """Fail because a request that could be served was not; the refusal's own lines are shown too."""
        __tracebackhide__ = True
        calls = self.driver.take_calls()
        asked = sum(name == "malloc" for name, _ in calls)
        what = (
            f"{label} raised MemoryError after these calls of the driver: {calls}",
            f"{label} 抛出了 MemoryError，此前对驱动的调用为 {calls}",
        )
        try:
            self.expect.fail(what, look=LOOK_FIRST_TRY if asked < 2 else LOOK_GIVE_BACK, picture=self.draw(None))
        except AssertionError as failure:
            raise failure from refusal

    def _note(self, label: str, decision: dict[str, Any]) -> None:
        __tracebackhide__ = True
        allocated, reserved = self.allocator.memory_allocated(), self.allocator.memory_reserved()
        if type(allocated) is not int or type(reserved) is not int:
            self.expect.fail(
                (
                    "memory_allocated() and memory_reserved() must return an int",
                    "memory_allocated() 与 memory_reserved() 应返回 int",
                ),
                expected="(int, int)",
                actual=f"({type(allocated).__name__}, {type(reserved).__name__})",
            )
        decision["allocated"] = allocated
        decision["reserved"] = reserved
        calls = self.driver.take_calls()
        if calls:
            decision["driver"] = calls
        self.last, self.last_label = decision, label
        self.decisions.append(decision)
        self.labels.append(label)


def _say_difference(label: str, name: str, actual: Any, expected: Any) -> Pair:
    if name == "driver":
        return (
            f"After {label}: the calls of the driver are others than expected",
            f"{label} 之后：对驱动的调用与预期不符",
        )
    english, chinese = NAMES[name]
    return (
        f"After {label}: {english} is {actual}, expected {expected}",
        f"{label} 之后：{chinese}为 {actual}，应为 {expected}",
    )


@pytest.fixture
def drive(expect: Any) -> Callable[..., ObedientDriver]:
    """Return a maker of drivers: capacity, bases, faults."""
    return lambda **options: ObedientDriver(expect, **options)


@pytest.fixture
def play(
    solution: ModuleType, expect: Any, evidence: Any, drive: Callable[..., ObedientDriver]
) -> Callable[..., Player]:
    """Return a maker of players: each with an allocator of its own over the driver given, or over a fresh one."""

    def make(driver: Any = None, may_be_refused: bool = False, **options: Any) -> Player:
        return Player(solution, expect, evidence, driver or drive(**options), may_be_refused)

    return make
