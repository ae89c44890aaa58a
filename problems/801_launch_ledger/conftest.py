"""What the tests of this problem share: a clerk that asks the solution, checks what it says, and draws it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest

Pair = tuple[str, str]
Timeline = list[tuple[str, int, int, int]]
"""Of each kernel: name, launched, start, end."""

FIELDS = {
    "Kernel": ("name", "launched_ns", "start_ns", "end_ns"),
    "Ledger": ("makespan_ns", "busy_ns", "launch_idle_ns", "sync_idle_ns"),
    "Row": ("name", "device_ns", "host_ns", "count", "is_sync"),
}
CELLS = 56
LOOKS: dict[str, Pair] = {
    "schedule": (
        "Keep two clocks: the host's, after its last launch, and the device's, after its last kernel. A kernel starts "
        "at the later one.",
        "保留两个钟：主机到上一次启动为止，设备到上一个 kernel 结束为止。kernel 从较晚的那个开始。",
    ),
    "settle": (
        "The makespan is busy time and both idle times together. What lies before the first kernel is idle, too.",
        "总时长等于忙碌时间加两种空闲时间。第一个 kernel 之前也是空闲。",
    ),
    "find_bound": (
        "Run the model twice: once with launches that cost nothing, once with kernels that do.",
        "把模型跑两遍：一遍启动不花时间，一遍 kernel 不花时间。",
    ),
    "capture": (
        "A graph ends at a synchronize. Of its kernels the first costs replay_ns, and the others 0.",
        "graph 到 synchronize 为止。其中第一个 kernel 花 replay_ns，其余为 0。",
    ),
    "fuse": (
        "Write the rows out one by one, then look for the names from the front, and go on behind what was fused.",
        "先把行逐个展开，再从头找这些名字；融合之后，从它的后面继续找。",
    ),
}
DRAWN: tuple[Pair, Pair] = (("right", "正确"), ("yours", "你的"))


class Clerk:
    """Asks the functions of the solution, checks the types of what they return, and writes it down.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any) -> None:
        self._solution = solution
        self._expect = expect
        self._evidence = evidence
        self._asked = 0

    def kernel(self, name: str, device_ns: int, host_ns: int, count: int = 1) -> Any:
        """Return a row of kernels."""
        return self._solution.Row(name, device_ns, host_ns, count)

    def sync(self, host_ns: int = 0, name: str = "item", count: int = 1) -> Any:
        """Return a row with a synchronize."""
        return self._solution.Row(name, 0, host_ns, count, True)

    def schedule(self, rows: Sequence[Any], wanted: Timeline | None = None, look: Pair | None = None) -> Timeline:
        """Ask ``schedule``, and return its answer as plain data."""
        __tracebackhide__ = True
        answer = [self._read("Kernel", it) for it in self._list("schedule", "Kernel", self._call("schedule", rows))]
        picture = None if wanted is None else _draw(wanted, answer)
        self._settle("schedule", answer, wanted, look, picture)
        return answer

    def settle(
        self, rows: Sequence[Any], wanted: tuple[int, int, int, int] | None = None, look: Pair | None = None
    ) -> tuple[int, ...]:
        """Ask ``settle``. *wanted*: makespan, busy, idle for launches, idle for synchronizes."""
        __tracebackhide__ = True
        ledger = self._read("Ledger", self._one("settle", "Ledger", self._call("settle", rows)))
        named = dict(zip(FIELDS["Ledger"], ledger, strict=True))
        wanted_named = None if wanted is None else dict(zip(FIELDS["Ledger"], wanted, strict=True))
        self._settle("settle", named, wanted_named, look)
        return ledger

    def bound(self, rows: Sequence[Any], wanted: str | None = None, look: Pair | None = None) -> None:
        """Ask ``find_bound``."""
        __tracebackhide__ = True
        self._settle("find_bound", self._call("find_bound", rows), wanted, look)

    def capture(
        self, rows: Sequence[Any], replay_ns: int, wanted: Sequence[Any] | None = None, look: Pair | None = None
    ) -> list[Any]:
        """Ask ``capture``, and return its rows. *wanted*: rows of any grouping."""
        __tracebackhide__ = True
        return self._rows("capture", self._call("capture", rows, replay_ns), wanted, look)

    def fuse(
        self,
        rows: Sequence[Any],
        names: Sequence[str],
        fused: str,
        device_ns: int,
        wanted: Sequence[Any] | None = None,
        look: Pair | None = None,
    ) -> list[Any]:
        """Ask ``fuse``, and return its rows. *wanted*: rows of any grouping."""
        __tracebackhide__ = True
        return self._rows("fuse", self._call("fuse", rows, names, fused, device_ns), wanted, look)

    def _call(self, name: str, rows: Sequence[Any], *others: Any) -> Any:
        __tracebackhide__ = True
        before = copy.copy(rows)
        answer = getattr(self._solution, name)(rows, *others)
        self._expect.true(
            before == rows,
            (f"{name}() changed its rows", f"{name}() 改动了传入的 rows"),
            ("Build a new list; the caller may use the old one again.", "请新建列表；调用者可能还要用原来的。"),
        )
        return answer

    def _rows(self, name: str, answer: Any, wanted: Sequence[Any] | None, look: Pair | None) -> list[Any]:
        __tracebackhide__ = True
        rows = self._list(name, "Row", answer)
        right = None if wanted is None else self._expand(wanted)
        self._settle(name, self._expand(rows), right, look)
        return rows

    def _expand(self, rows: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return single kernels as ``(name, device_ns, host_ns)`` and synchronizes with a mark."""
        read = [(self._read("Row", row), row) for row in rows]
        return [
            ("sync", name, host_ns) if is_sync else (name, device_ns, host_ns)
            for (name, device_ns, host_ns, count, is_sync), _ in read
            for _ in range(count)
        ]

    def _settle(self, name: str, answer: Any, wanted: Any, look: Pair | None, picture: Pair | None = None) -> None:
        """Compare where the truth is known here, and record for the reference to compare."""
        __tracebackhide__ = True
        if wanted is not None:
            what = (f"{name}() is not what the model says", f"{name}() 与模型不符")
            self._expect.equal(answer, wanted, what, look or LOOKS[name], picture)
        self._asked += 1
        labels = [f"{name}()[{at}]" for at in range(len(answer))] if isinstance(answer, list) else None
        self._evidence.exact(f"{name} {self._asked}", answer, labels=labels)

    def _list(self, name: str, kind: str, answer: Any) -> list[Any]:
        __tracebackhide__ = True
        if type(answer) is not list:
            self._expect.fail(
                (f"{name}() must return a list of {kind}", f"{name}() 应返回 {kind} 的列表"),
                f"list[{kind}]",
                type(answer).__name__,
                ("list(…) makes one of a generator or a tuple.", "生成器、元组可以用 list(…) 变成列表。"),
            )
        return [self._one(name, kind, it) for it in answer]

    def _one(self, name: str, kind: str, answer: Any) -> Any:
        __tracebackhide__ = True
        if type(answer) is not getattr(self._solution, kind):
            form = f"{kind}({', '.join(FIELDS[kind])})"
            self._expect.fail(
                (f"{name}() returned something that is no {kind}", f"{name}() 返回了不是 {kind} 的东西"),
                kind,
                type(answer).__name__,
                (f"It is given in the stub: {form}.", f"骨架中已经给出：{form}。"),
            )
        return answer

    def _read(self, kind: str, value: Any) -> tuple[Any, ...]:
        """Return the fields of a value; times must be whole numbers."""
        __tracebackhide__ = True
        fields = tuple(getattr(value, field) for field in FIELDS[kind])
        odd = next((it for it in fields if type(it) not in (int, str, bool)), None)
        if odd is not None:
            what = ("Nanoseconds are wanted, as int", "应为纳秒数，类型为 int")
            self._expect.fail(what, "int", f"{type(odd).__name__}: {odd!r} in {kind}")
        return fields


def _draw(wanted: Timeline, actual: Timeline) -> Pair:
    """Return both timelines of the device, one above the other."""
    end = max((kernel[3] for kernel in [*wanted, *actual]), default=0)
    cell = max(1, -(-end // CELLS))
    rows = [_draw_row(timeline, cell) for timeline in (wanted, actual)]
    english = [f"{name[0]:<6}|{row}|" for name, row in zip(DRAWN, rows, strict=True)]
    chinese = [f"{name[1]}  |{row}|" for name, row in zip(DRAWN, rows, strict=True)]
    return (
        "\n".join([*english, f"# a kernel, each begins with its bracket   {cell} ns a character"]),
        "\n".join([*chinese, f"# kernel，每个以括号开头   每个字符 {cell} ns"]),
    )


def _draw_row(timeline: Timeline, cell: int) -> str:
    cells = [" "] * CELLS
    for _, _, start, end in timeline:
        for at in range(max(0, start // cell), min(CELLS, -(-end // cell))):
            cells[at] = "#"
        if 0 <= start // cell < CELLS and end > start:
            cells[start // cell] = "["
    return "".join(cells)


@pytest.fixture
def clerk(solution: ModuleType, expect: Any, evidence: Any) -> Clerk:
    """Return what asks the solution."""
    return Clerk(solution, expect, evidence)
