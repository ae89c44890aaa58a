"""What the tests of this problem share: a desk that asks the solution, and compares with PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from support_torch import Place, Shape

Pair = tuple[str, str]

LOOK_SHAPE: Pair = (
    "Sizes are matched from the last dimension on; a missing one counts as 1. A 1 gives way to any size, 0 included.",
    "大小从最后一维起对齐；缺的维当作 1。1 让位于任何大小，包括 0。",
)
LOOK_WORDS: Pair = (
    "Operands are matched one after the other: a is the common shape so far, b the next operand. Dimensions are "
    "looked at from the last one, and numbered from the first one of the longer of the two.",
    "操作数逐个对齐：a 是到目前为止的共同形状，b 是下一个操作数。从最后一维看起，编号则从两者中较长者的第一维数起。",
)
LOOK_WRITE: dict[str, Pair] = {
    "internal overlap": (
        "Is the target dense? If not, has a dimension of more than one index stride 0? Then it is refused before "
        "anything else is looked at.",
        "目标是紧密的吗？如果不是，有没有下标不止一个、步长却为 0 的维？有就拒绝，先于其他一切检查。",
    ),
    "partial overlap": (
        "Do both lie in the same storage, and are both dense? Their ranges [offset, offset + elements) meet, but they "
        "are not the same range with the same strides.",
        "两者在同一块存储里吗，都是紧密的吗？它们的范围 [offset, offset + 元素数) 相交，却不是范围相同、步长也相同。",
    ),
    "other shape": (
        "The target takes part in the broadcast, and may not change its shape: the result must have exactly its shape.",
        "目标也参与广播，而它的形状不能变：结果的形状必须恰好是它的。",
    ),
    "resized": (
        "out takes no part in the broadcast. Where its shape is another one, PyTorch gives it the result's, and says "
        "so in a warning at most.",
        "out 不参与广播。形状不同时，PyTorch 就把它改成结果的形状，最多给一条警告。",
    ),
    "ok": (
        "PyTorch lets this pass. It looks for partial overlap only between dense layouts, and the very same layout may "
        "be read and written.",
        "PyTorch 允许这样写。它只在紧密的布局之间检查部分重叠；完全相同的布局可以边读边写。",
    ),
}


class Desk:
    """Asks the solution, compares, and writes the answers down.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any) -> None:
        self._solution = solution
        self._expect = expect
        self._evidence = evidence
        self._answers: list[Any] = []
        self._labels: list[str] = []

    def layout(self, place: Place, storage: int = 0) -> Any:
        """Return a layout, as the solution's class."""
        return self._solution.Layout(*place, storage)

    def match(self, shapes: Sequence[Shape], wanted: Shape | str) -> None:
        """Fail unless broadcast_shapes() gives the shape, or raises a ValueError in these words."""
        __tracebackhide__ = True
        call = f"broadcast_shapes({', '.join(map(str, shapes))})"
        ask = partial(self._solution.broadcast_shapes, *shapes)
        if isinstance(wanted, str):
            what = (f"{call} must raise ValueError", f"{call} 应当抛出 ValueError")
            answer: Any = str(self._expect.raises(ValueError, ask, what, LOOK_SHAPE))
            what = (f"{call} does not use PyTorch's words", f"{call} 的措辞与 PyTorch 不同")
            self._expect.equal(answer, wanted, what, LOOK_WORDS)
        else:
            answer = self._answer(call, ask, wanted, LOOK_SHAPE)
            self._expect.equal(answer, wanted, (f"{call} is wrong", f"{call} 不对"), LOOK_SHAPE)
        self._note(call, answer)

    def ask(self, name: str, *arguments: Any, wanted: Any, look: Pair) -> None:
        """Fail unless a function's answer is as wanted, type included."""
        __tracebackhide__ = True
        call = f"{name}({', '.join(map(str, arguments))})"
        answer = getattr(self._solution, name)(*arguments)
        self._expect.equal(answer, wanted, (f"{call} is wrong", f"{call} 不对"), look)
        self._note(call, answer)

    def write(self, name: str, places: Sequence[tuple[Place, int]], wanted: str) -> None:
        """Fail unless check_inplace() or check_out() gives this verdict, or raises in these words."""
        __tracebackhide__ = True
        layouts = [self.layout(*place) for place in places]
        call = f"{name}({', '.join(f'Layout{(*place, number)}' for place, number in places)})"
        ask = partial(getattr(self._solution, name), *layouts)
        if wanted in LOOK_WRITE:
            answer = self._answer(call, ask, wanted, LOOK_WRITE[wanted])
            what = (f"{call}: PyTorch decides otherwise", f"{call}：PyTorch 的判断不同")
            self._expect.equal(answer, wanted, what, LOOK_WRITE[wanted])
        else:
            what = (f"{call} must raise ValueError", f"{call} 应当抛出 ValueError")
            answer = str(self._expect.raises(ValueError, ask, what, LOOK_SHAPE))
            what = (f"{call} does not use PyTorch's words", f"{call} 的措辞与 PyTorch 不同")
            self._expect.equal(answer, wanted, what, LOOK_WORDS)
        self._note(call, answer)

    def _answer(self, call: str, ask: Callable[[], Any], wanted: Any, look: Pair) -> Any:
        """Return an answer; a ValueError is not one."""
        __tracebackhide__ = True
        try:
            return ask()
        except ValueError as error:
            what = (f"{call} must not raise", f"{call} 不应抛出异常")
            self._expect.fail(what, repr(wanted), f"ValueError: {error}", look)

    def record(self) -> None:
        """Hand the answers over as evidence."""
        self._evidence.exact("answers", self._answers, labels=self._labels)

    def _note(self, call: str, answer: Any) -> None:
        self._labels.append(call)
        self._answers.append(answer)


@pytest.fixture
def desk(solution: ModuleType, expect: Any, evidence: Any) -> Desk:
    """Return a desk that asks the solution."""
    return Desk(solution, expect, evidence)
