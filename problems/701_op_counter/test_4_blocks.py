"""Where counting begins and ends: blocks in blocks, blocks again, exceptions; and what a counter must not do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

LOOK_PASS = (
    "An operation that a mode has seen must go on to the modes around it: call it, do not run it elsewhere. And each "
    "mode sees it once.",
    "一个 mode 看过的操作，要继续传给外面的 mode：调用它，不要绕到别处去执行。每个 mode 只看到一次。",
)
LOOK_KEPT = (
    "Count, and let go: a tensor in a list, a dictionary or a set lives as long as the counter. The id of a tensor may "
    "be used again once it is gone.",
    "数完就放手：张量放在列表、字典或集合里，就和计数器活得一样久。张量一消失，它的 id 就可能被重新使用。",
)


class Recorder(TorchDispatchMode):
    """Notes what reaches it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # spares the import of all of it

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note and run."""
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_blocks_in_blocks_count_each_for_itself(desk: Any, draw: Any) -> None:
    """The inner counter counts its block, the outer one all, each operation once.

    zh: 内层计数器数自己的块，外层数全部，每个操作只数一次。
    """
    x = draw(4, 4)
    with desk.open() as outer:
        x + 1
        with desk.open() as inner:
            x * 2
            x + 3
        x.sum()
    desk.kernels(inner, {"aten.mul.Tensor": 1, "aten.add.Tensor": 1}, LOOK_PASS)
    desk.kernels(outer, {"aten.mul.Tensor": 1, "aten.add.Tensor": 2, "aten.sum.default": 1}, LOOK_PASS)
    desk.record()


@pytest.mark.parametrize("position", ["around", "inside"])
def test_other_modes_see_what_they_would(desk: Any, draw: Any, position: str) -> None:
    """A mode around the counter, or inside of it, sees each operation once, and so does the counter.

    zh: 计数器外面或里面的其他 mode，每个操作都看到一次，计数器也一样。
    """
    x = draw(4, 4)
    recorder, counter = Recorder(), desk.open()
    first, second = (recorder, counter) if position == "around" else (counter, recorder)
    with first, second:
        (x + 1).t().mul_(2)
    wanted = ["aten.add.Tensor", "aten.t.default", "aten.mul_.Tensor"]
    desk.expect.equal(recorder.seen, wanted, ("Another mode saw something else", "另一个 mode 看到的不同"), LOOK_PASS)
    desk.kernels(counter, {"aten.add.Tensor": 1, "aten.mul_.Tensor": 1}, LOOK_PASS)
    desk.record()


def test_a_counter_goes_on_where_it_stopped(desk: Any, draw: Any) -> None:
    """Entered again, a counter adds to its figures; between the blocks nothing is counted.

    zh: 再次进入时，计数器在原有数字上累加；两个块之间不计数。
    """
    x = draw(4, 4)
    counter = desk.open()
    for _ in range(3):
        with counter as entered:
            x + 1
        what = ("with … as must give the counter itself", "with … as 应当给出计数器本身")
        desk.expect.true(entered is counter, what, expected="OpCounter", actual=type(entered).__name__)
        x * 2
    desk.kernels(counter, {"aten.add.Tensor": 3})
    desk.kernels(desk.count(lambda: None), {})
    desk.record()


def test_an_exception_goes_on_and_ends_the_count(desk: Any, draw: Any) -> None:
    """The caller gets the exception, what ran before it is counted, what raised is not, and nothing after it.

    zh: 调用者收到异常；之前执行的计数，抛出异常的操作不计，之后的也不计。
    """
    x, y = draw(4, 4), draw(3)
    counter = desk.open()

    def fail() -> None:
        with counter:
            x + 1
            x * y

    what = ("The exception did not reach the caller", "异常没有传到调用者那里")
    desk.expect.raises(RuntimeError, fail, what, ("What does __exit__ return?", "__exit__ 返回了什么？"))
    x - 1
    desk.kernels(counter, {"aten.add.Tensor": 1}, ("Count an operation once it has run.", "操作执行完了再计数。"))
    desk.record()


@pytest.mark.parametrize("kind", ["forward", "backward", "in_place"])
def test_no_tensor_is_kept(desk: Any, device: str, kind: str) -> None:
    """Inside the block, the memory of what the caller drops is free at once.

    zh: 在块内，调用者丢掉的张量，内存立即释放。
    """
    x = torch.ones(1 << 16, device=device, requires_grad=True)
    work: dict[str, Callable[[], Any]] = {
        "forward": lambda: (x * 2).exp(),
        "backward": lambda: torch.autograd.grad((x * 2).exp().sum(), x),
        "in_place": lambda: torch.zeros_like(x).add_(1).view(-1)[1:],
    }
    work[kind]()
    before = torch.cuda.memory_allocated()
    with desk.open() as counter:
        for _ in range(3):
            work[kind]()
        growth = torch.cuda.memory_allocated() - before
    what = ("The counter keeps tensors alive", "计数器让张量一直活着")
    desk.expect.equal({"bytes": growth}, {"bytes": 0}, what, LOOK_KEPT)
    desk.read(counter.total, "total")
    desk.record()


@pytest.mark.budget(syncs=0)
def test_counting_never_waits(desk: Any, draw: Any, watch: Any, measure: Any) -> None:
    """The counter looks at shapes and schemas, never at values: the host does not wait.

    zh: 计数器看的是形状和 schema，从不看值：主机不等待。
    """
    x = draw(8, 8).requires_grad_()
    look = ("Which line reads a value, or compares tensors?", "哪一行读取了值，或者比较了张量？")
    with watch() as seen:
        counter = desk.count(lambda: (x @ x).softmax(-1).sum().backward())
    measure("syncs", len(seen.syncs), places=seen.places, look=look)
    desk.read(counter.total, "total")
    desk.record()
