"""What the tests of this problem share: a player that calls the solution, checks it and writes it down."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from support_device import ScriptedDevice
from support_map import draw

Pair = tuple[str, str]

FIGURES = {"allocated": "memory_allocated", "active": "active_bytes", "reserved": "memory_reserved"}
LOOKS: dict[str, Pair] = {
    "addr": (
        "Was each block back in the cache before the search began, if its last event was complete, and only then?",
        "在查找之前，最后一个事件已完成的块是否都已回到缓存？没完成的是否都还没有？",
    ),
    "allocated": (
        "memory_allocated() falls when free() is called, whether or not the block waits.",
        "free() 一调用，memory_allocated() 就下降，不论块是否还要等。",
    ),
    "active": (
        "A block that waits is still active, until a malloc() finds its last event complete.",
        "还在等的块仍算 active，直到某次 malloc() 发现它的最后一个事件已完成。",
    ),
    "reserved": ("Was a segment made although a block could be had?", "明明有块可用，是不是又要了新段？"),
    "driver": ("Which calls of the device does this step need?", "这一步需要调用设备的哪些函数？"),
    "events": (
        "free() records one event on each stream that was recorded for the block, and nothing else does (rule 3).",
        "free() 在为该块登记过的每个流上各录制一个事件；别处都不录制（规则 3）。",
    ),
    "waits": (
        "The host waits only when the cache has refused, or in empty_cache(): everywhere else it asks with query().",
        "只有缓存拒绝之后，或在 empty_cache() 里，主机才等待；其他地方只用 query() 询问。",
    ),
}
LOOK_WAIT: Pair = (
    "Before it gives up, malloc() waits for every outstanding event, gives wholly free segments back and asks again.",
    "放弃之前，malloc() 要等完所有未完成的事件，归还整段空闲的段，再问一次。",
)
WORDS: dict[str, Pair] = {
    "addr": ("the block's address", "块的地址"),
    "driver": ("the calls of malloc and free of the device", "对设备 malloc、free 的调用"),
    "events": ("the streams on which an event was recorded", "录制了事件的流"),
    "waits": ("the streams that the host waited for", "主机等待过的流"),
    **{name: (f"{call}()", f"{call}() ") for name, call in FIGURES.items()},
}


class Player:
    """Calls the solution, checks what it returns strictly by type, and writes every decision down."""

    def __init__(
        self, solution: ModuleType, expect: Any, evidence: Any, device: ScriptedDevice, may_be_refused: bool = False
    ) -> None:
        self.solution, self.expect, self.evidence, self.device = solution, expect, evidence, device
        self.may_be_refused = may_be_refused  # else a MemoryError is a failure at once
        self.allocator = solution.StreamAwareAllocator(device)
        self.last: dict[str, Any] = {}
        self.last_label = ""
        self.decisions: list[Any] = []
        self.labels: list[str] = []
        self.uses: list[tuple[int, int, Any]] = []  # stream, position in its queue, block

    def malloc(self, size: int, stream: int = 0) -> Any:
        """Return the solution's block, once nobody else is found to use its bytes."""
        __tracebackhide__ = True
        label = f"malloc({size}, stream={stream})"
        try:
            block = self.allocator.malloc(size) if stream == 0 else self.allocator.malloc(size, stream)
        except MemoryError as refusal:
            if self.may_be_refused:
                raise
            self._fail_refused(label, refusal)
        if type(block) is not self.solution.Block:
            what = (f"{label} must return a Block", f"{label} 应返回 Block")
            self.expect.fail(what, "Block(addr=<int>, size=<int>)", repr(block))
        self._check_nobody_uses(label, block, stream)
        self.note(label, {"addr": block.addr, "size": block.size})
        return block

    def refuse(self, size: int, stream: int = 0) -> None:
        """Ask for what can't be had: a ``MemoryError``."""
        __tracebackhide__ = True
        label = f"malloc({size}, stream={stream})"
        what = (f"{label} must raise MemoryError", f"{label} 应当抛出 MemoryError")
        look = ("A second refusal of the cache goes on to the caller.", "缓存第二次拒绝时，要交给调用者。")
        self.expect.raises(MemoryError, partial(self.allocator.malloc, size, stream), what, look)
        self.note(label, {"raises": "MemoryError"})

    def call(self, name: str, *arguments: Any) -> None:
        """Call ``free``, ``record_stream`` or ``empty_cache``."""
        __tracebackhide__ = True
        label = f"{name}({', '.join(map(str, arguments))})"
        result = getattr(self.allocator, name)(*arguments)
        if result is not None:
            self.expect.fail((f"{label} must return None", f"{label} 应当返回 None"), None, result)
        self.note(label, {})

    def refuse_call(self, name: str, *arguments: Any) -> None:
        """Call with a block that is not handed out: a ``ValueError``, and nothing has changed."""
        __tracebackhide__ = True
        label = f"{name}({', '.join(map(str, arguments))})"
        before = self.snapshot()
        what = (
            f"{label}: the block is not handed out now, so it must raise ValueError",
            f"{label}：这个块此刻没有交出去，应当抛出 ValueError",
        )
        look = (
            "A block that waits is not handed out: its owner has given it up.",
            "还在等的块不算已交出：主人已经放弃了它。",
        )
        self.expect.raises(ValueError, partial(getattr(self.allocator, name), *arguments), what, look)
        self.note(label, {"raises": "ValueError"})
        self.check(look, events=[])
        changed = (f"A refused {name}() changed something", f"被拒绝的 {name}() 改动了状态")
        self.expect.equal(self.snapshot(), before, changed, look)

    def launch(self, stream: int, block: Any, label: str = "kernel") -> None:
        """Queue a kernel that uses ``block`` on ``stream``; what the caller must record, the test records."""
        self.device.launch(stream, label)
        self.uses.append((stream, len(self.device.queued[stream]), block))

    def snapshot(self) -> Any:
        """Return the snapshot once its types are right; it is written down too."""
        __tracebackhide__ = True
        blocks = self.allocator.snapshot()
        is_right = type(blocks) is list and all(
            type(block) is tuple and [type(part) for part in block] == [int, int, str] for block in blocks
        )
        if not is_right:
            what = ("snapshot() has another type than in the statement", "snapshot() 的类型与题面不符")
            self.expect.fail(what, "[(addr, size, state), …]", repr(blocks))
        self.decisions.append([list(block) for block in blocks])
        self.labels.append("snapshot()")
        return blocks

    def check(self, look: Pair | None = None, **expected: Any) -> None:
        """Compare what the last call decided: addr, allocated, active, reserved, driver, events, waits."""
        __tracebackhide__ = True
        actual = {"driver": [], "events": [], "waits": [], **self.last}
        for name, value in expected.items():
            if actual.get(name) != value:
                self.fail_figure(name, actual.get(name), value, look)

    def fail_figure(
        self, name: str, actual: Any, value: Any, look: Pair | None = None, place: Pair = ("After", "执行")
    ) -> None:
        """Fail because of one figure."""
        __tracebackhide__ = True
        english, chinese = WORDS[name]
        verb = (" is", "为") if type(value) is int else (":", "：")
        what = (
            f"{place[0]} {self.last_label}: {english}{verb[0]} {actual}, expected {value}",
            f"{place[1]} {self.last_label} 之后：{chinese}{verb[1]} {actual}，应为 {value}",
        )
        self.expect.fail(what, value, actual, look=look or LOOKS[name], picture=self.draw())

    def record(self, name: str = "decisions") -> None:
        """Hand the decisions over as evidence."""
        self.evidence.exact(name, self.decisions, labels=self.labels)

    def draw(self) -> Pair | None:
        """Return a picture of segments and streams, if there is one to be had."""
        try:
            return draw(self.device, self.allocator.snapshot())
        except Exception:  # a picture is a courtesy: what failed before is the news
            return None

    def note(self, label: str, decision: dict[str, Any]) -> None:
        """Write down a call, with the figures after it."""
        __tracebackhide__ = True
        for name, call in FIGURES.items():
            decision[name] = getattr(self.allocator, call)()
            if type(decision[name]) is not int:
                self.expect.fail((f"{call}() must return an int", f"{call}() 应返回 int"), "int", decision[name])
        decision |= self.device.take_notes()
        self.last, self.last_label = decision, label
        self.decisions.append(decision)
        self.labels.append(label)

    def _fail_refused(self, label: str, refusal: MemoryError) -> None:
        __tracebackhide__ = True
        what = (
            f"{label} gave up, though blocks that wait or wholly free segments would do",
            f"{label} 放弃了，尽管等完事件、归还空闲段之后就够用",
        )
        try:
            self.expect.fail(what, look=LOOK_WAIT, picture=self.draw())
        except AssertionError as failure:
            raise failure from refusal

    def _check_nobody_uses(self, label: str, block: Any, stream: int) -> None:
        __tracebackhide__ = True
        self.uses = [use for use in self.uses if not self.device.is_done(use[0], use[1])]
        for other, _, used in self.uses:
            if other != stream and used.addr < block.addr + block.size and block.addr < used.addr + used.size:
                what = (
                    f"{label} handed out {used}, which a kernel on stream {other} still uses",
                    f"{label} 交出了 {used}，而 {other} 号流上还有 kernel 在用它",
                )
                self.expect.fail(what, look=LOOKS["addr"], picture=self.draw())


@pytest.fixture
def play(solution: ModuleType, expect: Any, evidence: Any) -> Callable[..., Player]:
    """Return a maker of players: each with an allocator of its own over a device with these options."""

    def make(may_be_refused: bool = False, **options: Any) -> Player:
        return Player(solution, expect, evidence, ScriptedDevice(expect, **options), may_be_refused)

    return make
