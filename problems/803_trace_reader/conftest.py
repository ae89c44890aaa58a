"""What the tests of this problem share: a recording, and a reader that asks the solution and checks what it says."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import pytest
from support_trace import Recording, Span, draw

Pair = tuple[str, str]

LEGEND: Pair = (
    ". a call   w a call that waits by its name   # kernel   = copy   0 memset",
    ". 调用   w 按名字就会等待的调用   # kernel   = 拷贝   0 memset",
)
FIELDS = {
    "Gap": ("start_ns", "end_ns", "cause"),
    "Wait": ("call", "start_ns", "waited_ns"),
    "Launch": ("call", "start_ns", "works", "delay_ns"),
}
LOOKS: dict[str, Pair] = {
    "measure_busy": (
        "Which events are work of this device, and which only lie on its rows? Is a moment counted once, however many "
        "streams work in it?",
        "哪些事件是这个设备的工作，哪些只是画在它的行上？不论有几个流在工作，同一时刻是不是只算一次？",
    ),
    "find_gaps": (
        "A gap begins when the last of all streams ends, and its cause hangs on the call of the next work alone.",
        "所有流里最后一个结束时空隙才开始；它的原因只看下一个工作对应的那次调用。",
    ),
    "find_waits": (
        "Five calls can wait. Of cudaMemcpyAsync the name and size of its work decide, found by correlation.",
        "会等待的调用有五种。cudaMemcpyAsync 要看它的工作的名字和大小，用 correlation 去找。",
    ),
    "measure_overlap": (
        "Unite the copies first and the kernels first, then look at what the two have in common.",
        "先各自合并拷贝和 kernel，再看两者的公共部分。",
    ),
    "find_launches": (
        "Correlation joins a call and its works, and nothing else does. The first work counts for the delay.",
        "只有 correlation 能把调用和它的工作连起来。延迟看最先开始的那个工作。",
    ),
}


class Reader:
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

    def busy(self, trace: Any, wanted: int | None, device: int | None = None, **words: Any) -> None:
        """Ask ``measure_busy``. *wanted*: nanoseconds, or None where only the reference knows."""
        __tracebackhide__ = True
        self._compare("measure_busy", _list_arguments(trace, device), self._read_time, wanted, **words)

    def overlap(self, trace: Any, wanted: tuple[int, int] | None, device: int | None = None, **words: Any) -> None:
        """Ask ``measure_overlap``."""
        __tracebackhide__ = True
        self._compare("measure_overlap", _list_arguments(trace, device), self._read_pair, wanted, **words)

    def gaps(self, trace: Any, wanted: list[tuple[Any, ...]] | None, device: int | None = None, **words: Any) -> None:
        """Ask ``find_gaps``. *wanted*: ``(start_ns, end_ns, cause)`` of each."""
        __tracebackhide__ = True
        self._compare(
            "find_gaps",
            _list_arguments(trace, device),
            lambda answer: self._read_list("find_gaps", "Gap", answer),
            wanted,
            **words,
        )

    def waits(self, trace: Any, wanted: list[tuple[Any, ...]] | None, **words: Any) -> None:
        """Ask ``find_waits``. *wanted*: ``(call, start_ns, waited_ns)`` of each."""
        __tracebackhide__ = True
        self._compare(
            "find_waits", (trace,), lambda answer: self._read_list("find_waits", "Wait", answer), wanted, **words
        )

    def launches(self, trace: Any, wanted: list[tuple[Any, ...]] | None, **words: Any) -> None:
        """Ask ``find_launches``. *wanted*: ``(call, start_ns, works, delay_ns)`` of each."""
        __tracebackhide__ = True
        self._compare(
            "find_launches",
            (trace,),
            lambda answer: self._read_list("find_launches", "Launch", answer),
            wanted,
            **words,
        )

    def _compare(
        self,
        name: str,
        arguments: tuple[Any, ...],
        read: Callable[[Any], Any],
        wanted: Any,
        *,
        spans: list[Span] | None = None,
        look: Pair | None = None,
    ) -> None:
        __tracebackhide__ = True
        before = copy.deepcopy(arguments[0])
        answer = read(getattr(self._solution, name)(*arguments))
        self._expect.true(
            before == arguments[0],
            (f"{name}() changed the trace", f"{name}() 改动了 trace"),
            (
                "Work on a copy: sorted() makes one, list.sort() and pop() don't.",
                "请用副本：sorted() 会新建，list.sort() 和 pop() 不会。",
            ),
        )
        if wanted is not None:
            picture = None
            if spans:
                picture = tuple(f"{draw(spans)}\n{legend}" for legend in LEGEND)
            what = (f"{name}() is not what the trace says", f"{name}() 与 trace 不符")
            self._expect.equal(answer, wanted, what, look or LOOKS[name], picture)
        self._asked += 1
        labels = [f"{name}()[{at}]" for at in range(len(answer))] if isinstance(answer, list) else None
        self._evidence.exact(f"{name} {self._asked}", answer, labels=labels)

    def _read_time(self, value: Any) -> int:
        __tracebackhide__ = True
        if type(value) is not int:
            self._expect.fail(
                ("Nanoseconds are wanted, as int", "应返回纳秒数，类型为 int"),
                "int",
                f"{type(value).__name__}: {value!r}",
                (
                    "Turn ts and dur into whole nanoseconds first: round(ts * 1000).",
                    "先把 ts 和 dur 变成整数纳秒：round(ts * 1000)。",
                ),
            )
        return value

    def _read_pair(self, answer: Any) -> tuple[int, int]:
        __tracebackhide__ = True
        if type(answer) is not tuple or len(answer) != 2:
            self._expect.fail(
                ("measure_overlap() returns a tuple of two times", "measure_overlap() 应返回两个时间组成的元组"),
                "tuple[int, int]",
                f"{type(answer).__name__}: {answer!r}",
            )
        return self._read_time(answer[0]), self._read_time(answer[1])

    def _read_list(self, name: str, kind: str, answer: Any) -> list[tuple[Any, ...]]:
        __tracebackhide__ = True
        if type(answer) is not list:
            self._expect.fail(
                (f"{name}() must return a list of {kind}", f"{name}() 应返回 {kind} 的列表"),
                f"list[{kind}]",
                type(answer).__name__,
                ("list(…) makes one of a generator or a tuple.", "生成器、元组可以用 list(…) 变成列表。"),
            )
        odd = [it for it in answer if type(it) is not getattr(self._solution, kind)]
        if odd:
            form = f"{kind}({', '.join(FIELDS[kind])})"
            self._expect.fail(
                (f"{name}() returned something that is no {kind}", f"{name}() 返回了不是 {kind} 的东西"),
                kind,
                type(odd[0]).__name__,
                (f"It is given in the stub: {form}.", f"骨架中已经给出：{form}。"),
            )
        return [tuple(getattr(it, field) for field in FIELDS[kind]) for it in answer]


def _list_arguments(trace: Any, device: int | None) -> tuple[Any, ...]:
    """Return what a function is called with; without a device, its default is asked for."""
    return (trace,) if device is None else (trace, device)


@pytest.fixture
def recording(rng: Random) -> Recording:
    """Return an empty recording, whose times are small."""
    return Recording(rng)


@pytest.fixture
def reader(solution: ModuleType, expect: Any, evidence: Any) -> Reader:
    """Return what asks the solution."""
    return Reader(solution, expect, evidence)
