"""What the tests of this problem share: a player that calls the solution, checks it and writes it down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from support_gpu import ScriptedGpu, draw

Pair = tuple[str, str]

COUNTERS = ("num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free")
LOOKS: dict[str, Pair] = {
    "addr": ("Is a cached block tried before a segment is asked for?", "要新段之前，试过缓存里的块了吗？"),
    "reserved": (
        "Which segments were asked for, which went back? Those without a block in use go, of every pool and stream.",
        "要了哪些段，归还了哪些段？没有块在用的段都要归还，不分池和流。",
    ),
    "calls": (
        "The order: a segment; where it is refused, what is unused goes back; a segment again; then the error.",
        "次序：要一个段；被拒绝就归还没人用的段；再要一次；然后才报错。",
    ),
    "num_alloc_retries": (
        "Each second try counts, whether or not it gets a segment.",
        "每次“再要一次”都计数，不论要没要到。",
    ),
    "num_ooms": ("Each OutOfMemoryError counts.", "每个 OutOfMemoryError 都计数。"),
    "num_device_alloc": ("Segments that the GPU gave count, refusals don't.", "GPU 给了的段才计数，被拒绝的不计。"),
    "num_device_free": ("Each segment that goes back counts.", "每归还一个段都计数。"),
}
LOOKS["allocated"] = LOOKS["addr"]
LOOK_REFUSED: Pair = (
    "The GPU's MemoryError is a refusal, and so is a segment over the limit (rules 1 and 2); the error is given.",
    "GPU 的 MemoryError 是拒绝，超过上限的段也是（规则 1、2）；异常类型已给出。",
)
LOOK_FIGURES: Pair = (
    "largest and own are of the request's pool and stream; other is free in segments with a block in use elsewhere.",
    "largest 和 own 只看请求所在的池和流；other 是别处有块在用的段里的空闲字节。",
)
LOOK_IN_THE_WAY: Pair = (
    "Which segments in use would help, of whatever pool and stream? Of those, the fewest bytes in use, not blocks.",
    "哪些有人用的段算有用，不分池和流？其中取在用字节最少的，不是块数最少的。",
)


class Player:
    """Calls the solution, checks what it returns strictly by type, and writes every decision down."""

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any, gpu: ScriptedGpu, limit: int | None) -> None:
        self.solution, self.expect, self.evidence, self.gpu = solution, expect, evidence, gpu
        self.allocator = solution.Allocator(gpu) if limit is None else solution.Allocator(gpu, limit)
        self.last: dict[str, Any] = {}
        self.last_label = ""
        self.decisions: list[Any] = []
        self.labels: list[str] = []

    def malloc(self, size: int, stream: int = 0) -> Any:
        """Return the solution's block, for a request that can be served."""
        __tracebackhide__ = True
        label = _label(size, stream)
        try:
            block = self._ask(size, stream)
        except MemoryError as refusal:
            self._fail_refused(label, refusal)
        if type(block) is not self.solution.Block:
            what = (f"{label} must return a Block", f"{label} 应返回 Block")
            self.expect.fail(what, "Block(addr=<int>, size=<int>)", repr(block))
        self.note(label, {"addr": block.addr, "size": block.size})
        return block

    def refuse(self, size: int, stream: int = 0, with_report: bool = False) -> Any:
        """Return the report of a request that can't be served; only a test of reports writes it down."""
        __tracebackhide__ = True
        label = _label(size, stream)
        what = (f"{label} must raise OutOfMemoryError", f"{label} 应当抛出 OutOfMemoryError")
        error = self.expect.raises(self.solution.OutOfMemoryError, partial(self._ask, size, stream), what, LOOK_REFUSED)
        report = error.report
        if type(report) is not self.solution.OomReport:
            self.expect.fail(
                (f"{label}: the error must carry an OomReport", f"{label}：异常应带有 OomReport"),
                expected="OomReport",
                actual=type(report).__name__,
            )
        written = {"report": asdict(report), "text": str(error)} if with_report else {}
        self.note(label, {"raises": "OutOfMemoryError", **written})
        return report

    def free(self, *blocks: Any) -> None:
        """Free blocks."""
        for block in blocks:
            self.allocator.free(block)
            self.note(f"free({block})", {})

    def empty_cache(self) -> None:
        """Call ``empty_cache``."""
        __tracebackhide__ = True
        result = self.allocator.empty_cache()
        if result is not None:
            self.expect.fail(("empty_cache() must return None", "empty_cache() 应当返回 None"), None, result)
        self.note("empty_cache()", {})

    def diagnose(self, size: int, stream: int = 0) -> Any:
        """Return the diagnosis, once its types are right and nothing has changed."""
        __tracebackhide__ = True
        label = "diagnose" + _label(size, stream).removeprefix("malloc")
        before = self.allocator.cache.segments()
        found = self.allocator.diagnose(size) if stream == 0 else self.allocator.diagnose(size, stream)
        look = (
            "diagnose() only looks: it takes nothing and gives nothing back.",
            "diagnose() 只看：什么都不拿，什么都不还。",
        )
        changed = (f"{label} changed the segments", f"{label} 改动了段")
        self.expect.equal(self.allocator.cache.segments(), before, changed, look)
        self.expect.equal(self.gpu.take_calls(), [], (f"{label} called the GPU", f"{label} 调用了 GPU"), look)
        Block, Diagnosis = self.solution.Block, self.solution.Diagnosis
        parts = [getattr(found, field.name, None) for field in fields(Diagnosis)]
        are_blocks = type(parts[-1]) is tuple and all(type(block) is Block for block in parts[-1])
        if type(found) is not Diagnosis or [type(part) for part in parts[:4]] != [str, int, int, int] or not are_blocks:
            self.expect.fail(
                (f"{label} must return a Diagnosis with these types", f"{label} 应返回各项类型如下的 Diagnosis"),
                expected="Diagnosis(str, int, int, int, tuple[Block, ...])",
                actual=repr(found),
            )
        self.decisions.append([*parts[:4], [[block.addr, block.size] for block in found.in_the_way]])
        self.labels.append(label)
        return found

    def check(self, look: Pair | None = None, place: Pair = ("After", "执行"), **expected: Any) -> None:
        """Compare what the last call decided: addr, allocated, reserved, calls of the GPU, a counter."""
        __tracebackhide__ = True
        for name, value in expected.items():
            actual = self.last.get(name)
            if actual != value:
                verb = (" is", " 为") if type(value) is int else (":", "：")
                what = (
                    f"{place[0]} {self.last_label}: {name}{verb[0]} {actual}, expected {value}",
                    f"{place[1]} {self.last_label} 之后：{name}{verb[1]} {actual}，应为 {value}",
                )
                self.expect.fail(what, value, actual, look=look or LOOKS[name], picture=self.draw())

    def check_fields(self, found: Any, what: Pair, look: Pair | None = None, **expected: Any) -> None:
        """Compare fields of a report, or of a diagnosis if there is no ``look``."""
        __tracebackhide__ = True
        for name, value in expected.items():
            actual = getattr(found, name)
            if actual != value:
                told = (
                    f"{what[0]}: {name} is {actual!r}, expected {value!r}",
                    f"{what[1]}：{name} 为 {actual!r}，应为 {value!r}",
                )
                why = look or (LOOK_IN_THE_WAY if name == "in_the_way" else LOOK_FIGURES)
                self.expect.fail(told, value, actual, look=why, picture=self.draw())

    def record(self, name: str = "decisions") -> None:
        """Hand the decisions over as evidence."""
        self.evidence.exact(name, self.decisions, labels=self.labels)

    def draw(self) -> Pair | None:
        """Return a map of the segments, if there is one to be had."""
        try:
            return draw(self.allocator.cache.segments(), self.gpu.mem_get_info()[0])
        except Exception:  # a map is a courtesy: what failed before is the news
            return None

    def note(self, label: str, decision: dict[str, Any]) -> None:
        """Write down a call, with the figures after it."""
        __tracebackhide__ = True
        stats = self.allocator.memory_stats()
        if type(stats) is not dict or sorted(stats) != sorted(COUNTERS) or {type(it) for it in stats.values()} != {int}:
            what = ("memory_stats() must return the four counters", "memory_stats() 应返回四个计数")
            self.expect.fail(what, f"{{{', '.join(COUNTERS)}}}: int", repr(stats))
        decision |= {"allocated": self.allocator.cache.allocated, "reserved": self.allocator.cache.reserved}
        decision |= {name: stats[name] for name in COUNTERS}
        decision["calls"] = self.gpu.take_calls()
        self.last, self.last_label = decision, label
        self.decisions.append(decision)
        self.labels.append(label)

    def _ask(self, size: int, stream: int) -> Any:
        __tracebackhide__ = True
        return self.allocator.malloc(size) if stream == 0 else self.allocator.malloc(size, stream)

    def _fail_refused(self, label: str, refusal: MemoryError) -> None:
        """Fail because a request that could be served was not."""
        __tracebackhide__ = True
        what = (
            f"{label} gave up after these calls of the GPU: {self.gpu.take_calls()}",
            f"{label} 放弃了，此前对 GPU 的调用为 {self.gpu.take_calls()}",
        )
        try:
            self.expect.fail(what, look=LOOKS["calls"], picture=self.draw())
        except AssertionError as failure:
            raise failure from refusal


def _label(size: int, stream: int) -> str:
    return f"malloc({size})" if stream == 0 else f"malloc({size}, {stream})"


@pytest.fixture
def play(solution: ModuleType, expect: Any, evidence: Any) -> Callable[..., Player]:
    """Return a maker of players: each with an allocator of its own over a GPU with these options."""

    def make(limit: int | None = None, **options: Any) -> Player:
        return Player(solution, expect, evidence, ScriptedGpu(**options), limit)

    return make
