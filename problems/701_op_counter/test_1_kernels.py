"""What is counted: operations that launch work, apart from those that launch nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

LOOK_VIEWS = (
    "A view only describes memory that is there. What tells it from an operation that writes: its schema. And "
    "_unsafe_view, and empty and its kin, launch nothing either.",
    "视图只是描述已有的内存。怎么与写入的操作区分：看 schema。_unsafe_view、empty 及其同类也什么都不启动。",
)
LOOK_BACKWARD = (
    "backward() is one call in Python; what it runs is called from C++. Does your counter see what Python calls, or "
    "what is dispatched?",
    "backward() 在 Python 里只是一次调用，它执行的东西由 C++ 调用。你的计数器看到的是 Python 的调用，还是分发的操作？",
)
LOOK_COMPOSITE = (
    "linear, layer_norm, matmul are composite: what runs are their parts. Autograd takes them apart before a dispatch "
    "mode sees them; in inference_mode nobody has, and the whole arrives. An operation can be asked for its parts.",
    "linear、layer_norm、matmul 是复合操作，执行的是它们的各个部分。autograd 会先拆开，dispatch mode 看到的就是部分；"
    "在 inference_mode 里没有人拆，到达的是整体。可以向操作要它的各个部分。",
)

WORK: dict[str, tuple[Callable[[Tensor], Any], dict[str, int]]] = {
    "pointwise": (lambda x: (x * 2 + 1).relu(), {"aten.mul.Tensor": 1, "aten.add.Tensor": 1, "aten.relu.default": 1}),
    "the_same_twice": (lambda x: x + x + x, {"aten.add.Tensor": 2}),
    "in_place": (
        lambda x: x.add_(1).mul_(2).zero_(),
        {f"aten.{op}": 1 for op in ("add_.Tensor", "mul_.Tensor", "zero_.default")},
    ),
    "out": (lambda x: torch.add(x, x, out=torch.empty_like(x)), {"aten.add.out": 1}),
    "keywords": (lambda x: torch.add(x, other=x, alpha=3), {"aten.add.Tensor": 1}),
    "several_results": (lambda x: torch.max(x, dim=1), {"aten.max.dim": 1}),
    "a_list": (lambda x: torch.cat([x, x]), {"aten.cat.default": 1}),
    "a_factory": (lambda x: torch.zeros_like(x), {"aten.zeros_like.default": 1}),
    "composite": (
        lambda x: F.linear(x, x, x[:, 0]).softmax(-1),
        {"aten.addmm.default": 1, "aten._softmax.default": 1},
    ),
    "a_copy_in_reshape": (lambda x: x.t().reshape(-1), {"aten.clone.default": 1}),
    "no_copy_in_reshape": (lambda x: x.reshape(-1), {}),
    "contiguous_already": (lambda x: x.contiguous().to(x.dtype), {}),
}


@pytest.mark.parametrize("case", [case for case in WORK if case != "composite"])
def test_operations_are_counted_by_name(desk: Any, draw: Any, case: str) -> None:
    """by_op names each operation that launched work, and total is the sum.

    zh: by_op 列出每个启动了工作的操作，total 是它们的和。
    """
    work, wanted = WORK[case]
    x = draw(6, 4)
    desk.kernels(desk.count(lambda: work(x)), wanted)
    desk.record()


VIEWS: dict[str, Callable[[Tensor], Any]] = {
    "transpose": lambda x: x.t(),
    "select": lambda x: x[1],
    "slice": lambda x: x[1:3],
    "view": lambda x: x.view(-1),
    "expand": lambda x: x.expand(3, 6, 4),
    "split": lambda x: x.split(2),
    "detach": lambda x: x.detach(),
    "as_strided": lambda x: x.as_strided((2, 2), (4, 1)),
    "empty": lambda x: torch.empty_like(x),
    "new_empty": lambda x: x.new_empty(3),
    "empty_strided": lambda x: torch.empty_strided((2, 2), (1, 2), device=x.device),
}


@pytest.mark.parametrize("case", list(VIEWS))
def test_views_launch_nothing(desk: Any, draw: Any, case: str) -> None:
    """A view, or memory that is only taken, counts under views, with no bytes.

    zh: 视图、只占内存而不写的操作，计入 views，字节为零。
    """
    x = draw(6, 4)
    counter = desk.count(lambda: VIEWS[case](x))
    wanted = {"kernels": 0, "views": 1, "read_bytes": 0, "written_bytes": 0}
    what = (f"{case} launches nothing", f"{case} 什么也不启动")
    desk.expect.equal(desk.read(counter.total, "total"), wanted, what, LOOK_VIEWS)
    found = [desk.read(tally, f"by_op[{name!r}]") for name, tally in counter.by_op.items()]
    found += [desk.read(tally, f"by_module[{name!r}]") for name, tally in counter.by_module.items()]
    what = ("A view is missing in by_op or by_module", "by_op 或 by_module 里少了视图")
    desk.expect.equal(found, [wanted, wanted], what, LOOK_VIEWS)
    desk.record()


def test_kernels_are_what_the_device_was_given(desk: Any, draw: Any, watch: Any, rng: Any) -> None:
    """For elementwise work the kernels counted are the launches that the device saw.

    zh: 对逐元素的工作，数到的 kernel 就是设备收到的启动。
    """
    steps: list[Callable[[Tensor], Tensor]] = [
        lambda x: x * 3,
        lambda x: x.t(),
        lambda x: x.unsqueeze(0).squeeze(0),
        lambda x: x.relu_(),
        lambda x: torch.where(x > 1, x, x + 1),
        lambda x: x.t().reshape(-1).view(4, 4),
        lambda x: torch.sub(x, 1, out=torch.empty_like(x)),
    ]
    chosen = rng.choices(steps, k=24)

    def work(x: Tensor) -> None:
        for step in chosen:
            x = step(x)

    work(draw(4, 4))
    x = draw(4, 4)
    with watch() as seen:
        work(x)
    counter = desk.count(lambda: work(x))
    found = desk.read(counter.total, "total")["kernels"]
    what = ("The device was given another number of launches", "设备收到的启动数不同")
    desk.expect.equal(found, seen.launches, what, LOOK_VIEWS)
    desk.record()


def test_a_backward_pass_is_counted(desk: Any, draw: Any) -> None:
    """What backward() runs is counted as what was called, and outside of it nothing.

    zh: backward() 执行的操作与直接调用的一样计数，之外的不计。
    """
    x, weight = draw(6, 4), draw(4).requires_grad_()
    loss = (x * weight).relu().sum()
    counter = desk.count(loss.backward)
    wanted = {"aten.ones_like.default": 1, "aten.threshold_backward.default": 1, "aten.mul.Tensor": 1}
    desk.kernels(counter, {**wanted, "aten.sum.dim_IntList": 1}, LOOK_BACKWARD)
    (draw(6, 4) * weight).sum().backward()
    desk.kernels(counter, {**wanted, "aten.sum.dim_IntList": 1})
    desk.record()


@pytest.mark.parametrize("mode", ["grad", "no_grad", "inference_mode"])
def test_a_composite_is_its_parts(desk: Any, draw: Any, mode: str) -> None:
    """Linear and softmax are counted by what they come down to, the same in each mode of autograd.

    zh: linear 和 softmax 按它们最终的操作计数，在 autograd 的各种模式下都一样。
    """
    work, wanted = WORK["composite"]
    x = draw(6, 4)
    with {"grad": torch.enable_grad, "no_grad": torch.no_grad, "inference_mode": torch.inference_mode}[mode]():
        counter = desk.count(lambda: work(x))
    desk.kernels(counter, wanted, LOOK_COMPOSITE)
    desk.record()


@pytest.mark.parametrize("case", list(WORK))
@pytest.mark.parametrize("mode", ["grad", "inference_mode"])
def test_results_are_those_without_a_counter(desk: Any, draw: Any, evidence: Any, case: str, mode: str) -> None:
    """Under the counter an operation returns what it returns without one, bit for bit.

    zh: 在计数器之下，操作返回的与没有计数器时完全相同，每一位都一样。
    """
    work, _ = WORK[case]
    x = draw(6, 4)
    results = []
    for with_counter in (False, True):
        given = x.clone()
        counting = desk.open() if with_counter else nullcontext()
        with torch.inference_mode(mode == "inference_mode"), torch.set_grad_enabled(mode == "grad"), counting:
            answer = work(given)
        parts = answer if isinstance(answer, tuple) else (answer,)
        what = ("The operation returned something else under the counter", "在计数器之下，操作返回了别的东西")
        is_right = all(isinstance(part, Tensor) for part in parts)
        desk.expect.true(is_right, what, expected="Tensor", actual=type(answer).__name__)
        results.append([part.cpu().tolist() for part in parts])
    desk.expect.equal(results[1], results[0], ("The counter changed a result", "计数器改变了结果"))
    evidence.exact("results", results[1])
