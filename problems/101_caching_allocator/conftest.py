"""What the tests of this problem share: a driver that obeys the test, a player that writes down, a map."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count, groupby
from types import ModuleType
from typing import Any

import pytest

MIB = 1 << 20
GRAIN = 512
MAP_CELLS = 60

Pair = tuple[str, str]
Call = list[Any]


class ObedientDriver:
    """Hands out the addresses that the test names, refuses when the test wants it to, and notes every call.

    Args:
        expect: the judge's fixture.
        capacity: bytes of the device.
        bases: addresses of the segments in order of creation; after them, and without them, each segment
            begins where the highest one ended.
        faults: by number of the call of ``malloc``, counted from 0: what it raises instead.
    """

    def __init__(
        self,
        expect: Any,
        capacity: int = 1 << 50,
        bases: Iterable[int] = (),
        faults: dict[int, BaseException] | None = None,
    ) -> None:
        self._expect = expect
        self.capacity = capacity
        self._bases = iter(bases)
        self._end = 0
        self._faults = faults or {}
        self._asked = count()
        self.sizes: dict[int, int] = {}
        self._calls: list[Call] = []

    def malloc(self, size_bytes: int) -> int:
        """Return the next base."""
        self._expect.true(
            type(size_bytes) is int and size_bytes > 0 and size_bytes % (2 * MIB) == 0,
            ("driver.malloc() was asked for no multiple of 2 MiB", "向 driver.malloc() 要的大小不是 2 MiB 的整数倍"),
            ("Which sizes may a segment have?", "段可以有哪些大小？"),
            actual=size_bytes,
        )
        self._calls.append(["malloc", size_bytes])
        fault = self._faults.get(next(self._asked))
        if fault is not None:
            raise fault
        if sum(self.sizes.values()) + size_bytes > self.capacity:
            raise MemoryError(f"{size_bytes} bytes wanted, {self.capacity - sum(self.sizes.values())} left")
        base = next(self._bases, self._end)
        self._end = max(self._end, base + size_bytes)
        self.sizes[base] = size_bytes
        return base

    def free(self, address: int) -> None:
        """Take a segment back."""
        self._expect.true(
            type(address) is int and address in self.sizes,
            ("driver.free() was given what is no base of a segment", "传给 driver.free() 的不是任何段的起始地址"),
            ("A segment goes back whole, once, by its base.", "段要整段归还，只还一次，凭起始地址。"),
            expected=sorted(self.sizes),
            actual=address,
        )
        self._calls.append(["free", address])
        del self.sizes[address]

    def take_calls(self) -> list[Call]:
        """Return the calls since the last time; calls of ``free`` in a row are sorted: their order is open."""
        calls, self._calls = self._calls, []
        if len(calls) < 2:
            return calls
        groups = [(name, list(group)) for name, group in groupby(calls, key=lambda call: call[0])]
        return [call for name, group in groups for call in (sorted(group) if name == "free" else group)]


class Player:
    """Calls the solution, checks what it returns strictly by type, and writes every decision down.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        driver: the driver that the allocator gets.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any, driver: Any) -> None:
        self.solution = solution
        self.expect = expect
        self.evidence = evidence
        self.driver = driver
        self.allocator = solution.CachingAllocator(driver)
        self.last_label = ""
        self.last: dict[str, Any] = {}
        self.decisions: list[dict[str, Any]] = []
        self.labels: list[str] = []
        self.numbers: dict[tuple[int, int], int] = {}
        self._next_number = count()

    def malloc(self, size: int, stream: int = 0, number: int | None = None) -> Any:
        """Return the solution's block; ``number`` is its name in messages."""
        label = f"malloc({size})" if stream == 0 else f"malloc({size}, stream={stream})"
        block = self._call_malloc(size, stream)
        addr, block_size = getattr(block, "addr", None), getattr(block, "size", None)
        if type(block) is not self.solution.Block or type(addr) is not int or type(block_size) is not int:
            self.expect.fail(
                (
                    f"{label} returned something else than a Block of two ints",
                    f"{label} 返回的不是由两个 int 组成的 Block",
                ),
                expected="Block(addr=<int>, size=<int>)",
                actual=repr(block),
            )
        self.numbers[addr, block_size] = next(self._next_number) if number is None else number
        self._note(label, {"addr": addr, "size": block_size})
        return block

    def refuse(self, size: int, stream: int = 0, error: type[BaseException] = MemoryError) -> BaseException:
        """Return the exception with which a request must fail."""
        label = f"malloc({size}, stream={stream})"
        name = error.__name__
        raised = self.expect.raises(
            error, lambda: self._call_malloc(size, stream), (f"{label} must raise {name}", f"{label} 应当抛出 {name}")
        )
        self._note(label, {"raises": name})
        return raised

    def free(self, block: Any) -> None:
        """Free a block."""
        label = f"free(block {self.numbers.pop((block.addr, block.size), '?')})"
        self._call_void(label, lambda: self.allocator.free(block))

    def refuse_free(self, block: Any, what: Pair) -> None:
        """Free what isn't allocated: a ``ValueError``, and nothing has changed."""
        before = self.snapshot()
        self.expect.raises(ValueError, lambda: self.allocator.free(block), what)
        self._note(f"free({block.addr}, {block.size})", {"raises": "ValueError"})
        self.expect.equal(self.snapshot(), before, ("A refused free() changed something", "被拒绝的 free() 改动了状态"))

    def empty_cache(self) -> None:
        """Call ``empty_cache``."""
        self._call_void("empty_cache()", self.allocator.empty_cache)

    def snapshot(self) -> list[Any]:
        """Return the snapshot, once its types have been found right; it is written down too."""
        segments = self.allocator.snapshot()
        if not _is_snapshot(segments):
            self.expect.fail(
                ("snapshot() has another shape than the statement's", "snapshot() 的结构与题面不符"),
                look=("Lists, tuples, ints and bools, nested as there.", "列表、元组、int 与 bool，按题面嵌套。"),
                expected="[(base, size, stream, [(addr, size, allocated), …]), …]",
                actual=repr(segments)[:300],
            )
        self.decisions.append(
            {"snapshot": [[*segment[:3], [list(block) for block in segment[3]]] for segment in segments]}
        )
        self.labels.append("snapshot()")
        return segments

    def check(self, look: Pair | None = None, **expected: Any) -> None:
        """Compare what the last call but ``snapshot`` decided: addr, size, allocated, reserved, driver."""
        actual = {"driver": [], **self.last}
        for name, value in expected.items():
            if actual[name] != value:
                english, chinese = NAMES[name]
                label = self.last_label
                what = (
                    f"After {label}: {english} is {actual[name]}, expected {value}",
                    f"{label} 之后：{chinese}为 {actual[name]}，应为 {value}",
                )
                self.expect.fail(what, value, actual[name], look=look, picture=self.draw(actual.get("addr")))

    def record(self) -> None:
        """Hand the decisions over as evidence."""
        self.evidence.exact("decisions", self.decisions, labels=self.labels)

    def draw(self, addr: int | None) -> str | None:
        """Return a map of the segment that holds ``addr``, after the solution's own snapshot."""
        try:
            segments = self.allocator.snapshot()
        except Exception:  # a map is a courtesy: what failed before is the news
            return None
        if not _is_snapshot(segments):
            return None
        for base, size, stream, blocks in segments:
            if addr is not None and base <= addr < base + size:
                return draw_map((base, size, stream), addr, {"actual": blocks})
        return None

    def _call_malloc(self, size: int, stream: int) -> Any:
        return self.allocator.malloc(size) if stream == 0 else self.allocator.malloc(size, stream=stream)

    def _call_void(self, label: str, call: Callable[[], Any]) -> None:
        result = call()
        if result is not None:
            self.expect.fail((f"{label} must return None", f"{label} 应当返回 None"), None, result)
        self._note(label, {})

    def _note(self, label: str, decision: dict[str, Any]) -> None:
        allocated, reserved = self.allocator.memory_allocated(), self.allocator.memory_reserved()
        if type(allocated) is not int or type(reserved) is not int:
            self.expect.fail(
                (
                    "memory_allocated() and memory_reserved() must return an int",
                    "memory_allocated() 与 memory_reserved() 应返回 int",
                ),
                actual=[allocated, reserved],
            )
        decision["allocated"] = allocated
        decision["reserved"] = reserved
        calls = self.driver.take_calls()
        if calls:
            decision["driver"] = calls
        self.last, self.last_label = decision, label
        self.decisions.append(decision)
        self.labels.append(label)


NAMES: dict[str, Pair] = {
    "addr": ("the block's address", "块的地址"),
    "size": ("the block's size", "块的大小"),
    "allocated": ("memory_allocated()", "memory_allocated() "),
    "reserved": ("memory_reserved()", "memory_reserved() "),
    "driver": ("the list of driver calls", "驱动调用记录"),
}


def _is_snapshot(segments: Any) -> bool:
    return type(segments) is list and all(
        type(segment) is tuple
        and [type(part) for part in segment] == [int, int, int, list]
        and all(type(block) is tuple and [type(part) for part in block] == [int, int, bool] for block in segment[3])
        for segment in segments
    )


def draw_map(segment: tuple[int, int, int], focus: int, rows: dict[str, list[tuple[int, int, bool]]]) -> str:
    """Return a map of one segment, at most 76 characters wide, zoomed in on ``focus``.

    Args:
        segment: base, size, stream.
        focus: address of the block in question.
        rows: by caption: blocks (addr, size, allocated) by address.
    """
    base, size, stream = segment
    near = [block for blocks in rows.values() for block in blocks if block[0] <= focus < block[0] + block[1]]
    cell = GRAIN
    while cell * MAP_CELLS < min(size, 4 * max((block[1] for block in near), default=GRAIN)):
        cell *= 2
    start = max(base, min(focus - cell * MAP_CELLS // 3, base + size - cell * MAP_CELLS))
    start -= (start - base) % cell
    lines = [
        f"segment at {base:#x}, {size} bytes, stream {stream}",
        f"from +{start - base}, {cell} bytes a character:",
    ]
    for caption, blocks in rows.items():
        lines.append(f"{caption:>9} {_draw_row(blocks, start, cell, base + size).rstrip() or '(no segment here)'}")
    lines.append(" " * (10 + (focus - start) // cell) + "^")
    lines.append("[## allocated   (.. free   each block begins with its bracket")
    return "\n".join(lines)


def _draw_row(blocks: list[tuple[int, int, bool]], start: int, cell: int, end: int) -> str:
    cells = [" "] * min(MAP_CELLS, -(-(end - start) // cell))
    for addr, size, is_allocated in blocks:
        for at in range(max(0, (addr - start) // cell), min(len(cells), -(-(addr + size - start) // cell))):
            cells[at] = "#" if is_allocated else "."
        if 0 <= (addr - start) // cell < len(cells):
            cells[(addr - start) // cell] = "[" if is_allocated else "("
    return "".join(cells)


@pytest.fixture(name="draw_map")
def give_draw_map() -> Callable[..., str]:
    """Return the function that draws a segment."""
    return draw_map


@pytest.fixture
def drive(expect: Any) -> Callable[..., ObedientDriver]:
    """Return a maker of drivers: capacity, bases, faults."""
    return lambda **options: ObedientDriver(expect, **options)


@pytest.fixture
def play(
    solution: ModuleType, expect: Any, evidence: Any, drive: Callable[..., ObedientDriver]
) -> Callable[..., Player]:
    """Return a maker of players: each with an allocator of its own over the driver given, or over a fresh one."""
    return lambda driver=None, **options: Player(solution, expect, evidence, driver or drive(**options))
