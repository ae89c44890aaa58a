"""What the tests of this problem share: a desk that asks the solution and PyTorch the same, and compares."""

from __future__ import annotations

from functools import partial
from itertools import islice, product
from types import ModuleType
from typing import Any

import pytest
from support_layouts import TORCH, Answer, describe, describe_tensor, is_copy
from torch import Tensor

Pair = tuple[str, str]

NO_LAYOUT = ("address", "is_contiguous", "storage_size", "has_overlap")
MAY_COPY = ("reshape", "flatten")

SHOWN = 16
"""How many addresses a picture shows."""

LOOKS: dict[str, Pair] = {
    "permute": (
        "New dimension i is old dimension dims[i]; sizes and strides move together, and no address changes.",
        "新的第 i 维就是原来的第 dims[i] 维；大小和步长一起移动，地址一个也不变。",
    ),
    "transpose": (
        "Two dimensions change places, with their strides. A negative one counts from the end.",
        "两个维连同步长互换位置。负数从末尾数起。",
    ),
    "expand": (
        "A repeated dimension has stride 0: each of its indices is the same element. Whatever is not repeated keeps "
        "its stride.",
        "重复出来的维步长为 0：每个下标都是同一个元素。没有重复的维，步长不变。",
    ),
    "narrow": (
        "Strides stay; the offset moves by start steps of this dimension.",
        "步长不变；offset 移动 start 步，按这一维的步长算。",
    ),
    "view": (
        "A view has the same addresses in the same order. Neighbouring old dimensions are one run where a step of the "
        "outer one is as far as the whole inner one; a new dimension must stay inside a run.",
        "视图的地址相同，次序也相同。相邻的旧维中，外层走一步恰好等于走完整个内层时，它们是一段等步长；"
        "新的维必须落在一段之内。",
    ),
    "reshape": (
        "A view wherever there is one; else a contiguous copy, which begins at offset 0 of its own storage.",
        "能用视图就用视图；否则是连续的拷贝，从自己存储的 offset 0 开始。",
    ),
    "flatten": (
        "Only dimensions start to end become one; the others stay. It is a reshape, and copies when that must.",
        "只有第 start 到第 end 维并成一维，其余不动。它就是 reshape，reshape 要拷贝时它也拷贝。",
    ),
}
LOOK_LAYOUT: Pair = (
    "Layout is given in the stub: Layout(shape, strides, offset), two tuples of int and an int.",
    "Layout 在骨架中已给出：Layout(shape, strides, offset)，两个由 int 组成的元组和一个 int。",
)


class Desk:
    """Asks the solution and PyTorch the same.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any) -> None:
        self.solution = solution
        self._expect = expect
        self._evidence = evidence
        self._answers: list[Any] = []
        self._labels: list[str] = []

    def read(self, tensor: Tensor) -> Any:
        """Return a tensor's layout, as the solution's class."""
        return self.solution.Layout(tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset())

    def layout(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Any:
        """Return a layout, as the solution's class."""
        return self.solution.Layout(shape, strides, offset)

    def ask(self, name: str, layout: Any, *arguments: Any, wanted: Any, look: Pair, picture: Any = None) -> None:
        """Fail unless a function's answer is as wanted, type included."""
        __tracebackhide__ = True
        call = _show_call(name, layout, arguments)
        answer = self._read_answer(name, call, getattr(self.solution, name)(layout, *arguments))
        what = (f"{call} is wrong", f"{call} 不对")
        self._expect.equal(answer, wanted, what, look, picture=picture)
        self._note(call, answer)

    def change(self, name: str, tensor: Tensor, *arguments: Any, look: Pair | None = None) -> Any:
        """Fail unless the solution's layout is that of PyTorch's result; return that result.

        Args:
            name: of the function, the same in PyTorch.
            tensor: whose layout is changed; each of its values is its address.
            arguments: of the function, behind the layout.
            look: what to look at; by default what is usual for this function.
        """
        __tracebackhide__ = True
        layout = self.read(tensor)
        call = _show_call(name, layout, arguments)
        result = TORCH[name](tensor, *arguments)
        wanted: Any = None if result is None else describe_tensor(result)
        if name in MAY_COPY:
            wanted = {**wanted, "is_copy": is_copy(result, tensor)}
        answer = self._read_answer(name, call, getattr(self.solution, name)(layout, *arguments))
        what = (f"{call} is not what PyTorch's {name} gives", f"{call} 与 PyTorch 的 {name} 结果不同")
        self._expect.equal(answer, wanted, what, look or LOOKS[name], picture=_draw(tensor, wanted, answer))
        self._note(call, answer)
        return result

    def refuse(self, name: str, layout: Any, *arguments: Any, error: type[Exception]) -> None:
        """Fail unless the function raises."""
        __tracebackhide__ = True
        call = _show_call(name, layout, arguments)
        what = (f"{call} must raise {error.__name__}", f"{call} 应当抛出 {error.__name__}")
        self._expect.raises(error, partial(getattr(self.solution, name), layout, *arguments), what)
        self._note(call, error.__name__)

    def record(self) -> None:
        """Hand the answers over as evidence."""
        self._evidence.exact("answers", self._answers, labels=self._labels)

    def _read_answer(self, name: str, call: str, answer: Any) -> Any:
        """Return an answer as plain data, once its type has been found right."""
        __tracebackhide__ = True
        if name in NO_LAYOUT or (name == "view" and answer is None):
            return answer
        if name not in MAY_COPY:
            return self._describe(call, answer)
        if type(answer) is not tuple or len(answer) != 2 or type(answer[1]) is not bool:
            what = (f"{call} must return (layout, is_copy)", f"{call} 应返回 (layout, is_copy)")
            self._expect.fail(what, "(Layout, bool)", repr(answer), LOOK_LAYOUT)
        return {**self._describe(call, answer[0]), "is_copy": answer[1]}

    def _describe(self, call: str, answer: Any) -> Answer:
        __tracebackhide__ = True
        if not self._is_layout(answer):
            what = (f"{call} must return a Layout of ints", f"{call} 应返回由 int 组成的 Layout")
            self._expect.fail(what, "Layout(shape=(int, …), strides=(int, …), offset=int)", repr(answer), LOOK_LAYOUT)
        return describe(answer.shape, answer.strides, answer.offset)

    def _is_layout(self, answer: Any) -> bool:
        if type(answer) is not self.solution.Layout or {type(answer.shape), type(answer.strides)} != {tuple}:
            return False
        numbers = (*answer.shape, *answer.strides, answer.offset)
        return len(answer.shape) == len(answer.strides) and all(type(number) is int for number in numbers)

    def _note(self, call: str, answer: Any) -> None:
        self._labels.append(call)
        self._answers.append(answer)


def _show_call(name: str, layout: Any, arguments: tuple[Any, ...]) -> str:
    shown = f"Layout({layout.shape}, {layout.strides}, {layout.offset})"
    return f"{name}({', '.join([shown, *map(str, arguments)])})"


def _draw(tensor: Tensor, wanted: Answer | None, answer: Answer | None) -> str:
    """Return the addresses in row-major order, before and after."""
    rows = {"before": describe_tensor(tensor), "PyTorch": wanted, "yours": answer}
    return "\n".join(f"{name:8}{_list_addresses(layout)}" for name, layout in rows.items())


def _list_addresses(layout: Answer | None) -> str:
    if layout is None:
        return "None"
    if 0 in layout["shape"]:
        return "no element"
    strides = [0 if stride == "-" else stride for stride in layout["strides"]]
    indices = product(*map(range, layout["shape"]))
    listed = [layout["offset"] + sum(map(int.__mul__, index, strides)) for index in islice(indices, SHOWN + 1)]
    shown = " ".join(map(str, listed[:SHOWN])) + (" …" if len(listed) > SHOWN else "")
    return shown + ("  (a copy: new storage)" if layout.get("is_copy") else "")


@pytest.fixture
def desk(solution: ModuleType, expect: Any, evidence: Any) -> Desk:
    """Return a desk that asks the solution."""
    return Desk(solution, expect, evidence)
