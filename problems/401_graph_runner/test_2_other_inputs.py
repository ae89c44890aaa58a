"""What the graph was not captured for: run by the model itself, or refused."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from support_model import WIDTH, Layers, draw, read
from torch import Tensor


@pytest.mark.weight(2)
@pytest.mark.parametrize(
    "shape", [(0, 8), (1, 8), (3, 8), (5, 8), (8,), (1, 4, 8), (2, 2, 8)], ids=lambda shape: "x".join(map(str, shape))
)
def test_another_shape_is_run_by_the_model(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    rng: Random,
    device: str,
    evidence: Any,
    expect: Any,
    shape: tuple[int, ...],
) -> None:
    """An input of another shape than the example's goes to the model itself, once; the next one is replayed again.

    zh: 形状与示例不同的输入直接交给模型，只调用一次；下一个相同形状的输入照常重放。
    """
    service = serve(rows(4))
    before = len(service.model.calls)
    service.serve(draw(rng, shape, device), f"x {list(shape)}, example [4, 8]")
    calls = len(service.model.calls) - before
    what = ("the model was not called once for an input of another shape", "输入形状不同时，模型没有恰好被调用一次")
    look = ("What is to be done with it: neither capture nor replay.", "对这样的输入，既不捕获，也不重放。")
    expect.equal(calls, 1, what, look)
    service.serve(rows(4), "x [4, 8] afterwards")
    expect.equal(
        len(service.model.calls) - before,
        1,
        ("the model was called for an input of the example's shape", "输入形状与示例相同，模型却被调用了"),
        ("Such a call is a replay.", "这样的调用只是一次重放。"),
    )
    service.record(evidence)


def test_another_shape_is_run_without_autograd(
    serve: Callable[..., Any], rows: Callable[..., Tensor], rng: Random, device: str, evidence: Any
) -> None:
    """The model runs without autograd for such an input too: its result requires no gradient.

    zh: 对这样的输入，模型同样不带 autograd 运行：结果不要求梯度。
    """
    model = Layers(rng, device)
    model.first.requires_grad_()
    service = serve(rows(4), model)
    service.serve(rows(3).requires_grad_(), "x [3, 8], which requires a gradient")
    service.serve(rows(4), "x [4, 8] afterwards")
    service.record(evidence)


def test_another_dtype_is_run_by_the_model(
    solution: ModuleType, rng: Random, device: str, evidence: Any, expect: Any
) -> None:
    """An input of another dtype goes to the model itself, and the result has the dtype that the model gives it.

    zh: dtype 与示例不同的输入直接交给模型，结果的 dtype 由模型决定。
    """
    runner = solution.GraphRunner(lambda x: x * x + x, draw(rng, (4, WIDTH), device))
    outputs = []
    for dtype in (torch.float64, torch.float16, torch.int32, torch.float32):
        x = draw(rng, (4, WIDTH), device, dtype)
        y = runner(x)
        look = (
            "copy_() converts dtypes in silence: an input of another dtype must not reach the graph.",
            "copy_() 会悄悄转换 dtype：别的 dtype 的输入不能进图。",
        )
        what = (
            f"x {dtype}, example float32: the result has another dtype",
            f"x 为 {dtype}、示例为 float32：结果的 dtype 不对",
        )
        expect.equal(str(y.dtype), str(dtype), what, look)
        outputs.append([str(y.dtype), read(y)])
    evidence.exact("outputs", outputs)


@pytest.mark.parametrize("given", ["list", "none", "cpu_tensor"])
def test_what_is_no_tensor_of_the_device_is_refused(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
    given: str,
) -> None:
    """A list or None is a TypeError, a tensor on another device a ValueError; nothing has been launched.

    zh: 列表或 None 抛出 TypeError，别的设备上的张量抛出 ValueError，什么都不启动。
    """
    service = serve(rows(4))
    x = rows(4)
    odd, error = {
        "list": (read(x), TypeError),
        "none": (None, TypeError),
        "cpu_tensor": (x.cpu(), ValueError),
    }[given]
    kind = type(odd).__name__ if error is TypeError else "CPU tensor"
    what = (f"runner({kind}) must raise {error.__name__}", f"runner({kind}) 应当抛出 {error.__name__}")
    look = (
        "Look at the type and at the device before anything else: copy_() takes a CPU tensor, and waits for it.",
        "先检查类型和设备：copy_() 连 CPU 张量也接受，还会为它等待。",
    )
    with watch() as seen:
        raised = expect.raises(error, lambda: service.runner(odd), what, look)
    expect.equal(seen.launches, 0, ("a refused call launched something", "被拒绝的调用启动了设备上的工作"), look)
    wanted = "cpu" if given == "cpu_tensor" else kind
    what = (f"the refusal does not say what was given: {wanted}", f"报错没有说明给的是什么：{wanted}")
    expect.true(wanted in str(raised), what, expected=f"… {wanted} …", actual=str(raised))
    service.serve(x, "a good call afterwards")
    service.record(evidence)
    evidence.exact("raised", type(raised).__name__)
