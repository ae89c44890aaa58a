"""What a call costs the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest
import torch
from support_model import Layers, draw
from torch import Tensor

LAYERS = 24
STEPS = 8
ROUNDS = 3
MAX_RATIO = 0.4


class Deep(Layers):
    """Many small kernels, each shorter than its launch: what a decode step looks like to the host."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output, (…, 8), for x, (…, 8), after 96 small kernels."""
        for _ in range(LAYERS):
            x = torch.clamp(torch.relu(x + 1) - x, -3, 3)
        return x

    def exact(self, x: Tensor) -> Any:
        """Return what the output must hold, as nested lists of floats, from float64 on the host."""
        return self(x.detach().cpu().double()).tolist()


@pytest.mark.budget(syncs=0)
def test_a_call_never_waits(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
    measure: Any,
) -> None:
    """The host never waits for the device in a call.

    zh: 调用时主机从不等待设备。
    """
    service = serve(rows(4))
    inputs = [rows(4) for _ in range(4)] + [rows(3)]
    torch.cuda.synchronize()
    with watch() as seen:
        results = [service.call(x) for x in inputs]
    measure("syncs", len(seen.syncs), "host waits", places=seen.places)
    what = ("a call waits for the device", "调用时等待了设备")
    look = (
        "Streams keep the order by themselves: who reads the result on the current stream comes after the call's work.",
        "流自会保证先后：在当前流上读结果的工作，必然排在这次调用的工作之后。",
    )
    expect.waits(seen, what=what, look=look)
    for number, (x, y) in enumerate(zip(inputs, results, strict=True), 1):
        service.check(y, x, f"call {number}")
    service.record(evidence)


@pytest.mark.weight(2)
def test_a_call_is_three_launches(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
) -> None:
    """However many kernels the model has, a call launches three times: input, graph, result.

    zh: 不论模型有多少个 kernel，一次调用只启动三次：输入、图、结果。
    """
    service = serve(rows(4))
    inputs = [*(rows(4) for _ in range(3)), rows(8)[:, 2:6].t()]
    torch.cuda.synchronize()
    launches, results = [], []
    for x in inputs:
        with watch() as seen:
            results.append(service.call(x))
        launches.append(seen.launches)
    what = ("a call launched more than three times", "一次调用启动了不止三次")
    look = (
        "One copy of the input, whatever its strides, one replay, one copy of the result. What else is launched?",
        "不论步长如何，拷贝一次输入，重放一次，拷贝一次结果。还启动了什么？",
    )
    expect.true(max(launches) <= 3, what, look, seen.draw(), expected="<= 3", actual=launches)
    for number, (x, y) in enumerate(zip(inputs, results, strict=True), 1):
        service.check(y, x, f"call {number}")
    service.record(evidence)


@pytest.mark.weight(2)
@pytest.mark.budget(time_ratio=MAX_RATIO)
def test_a_deep_model_is_faster_than_eager(
    serve: Callable[..., Any], rng: Random, device: str, evidence: Any, expect: Any, measure: Any, time_us: Any
) -> None:
    """Eight steps of a model of 96 small kernels take at most 0.4 times as long as eager.

    zh: 模型有 96 个小 kernel，连跑八步：耗时不超过 eager 的 0.4 倍。
    """
    x = draw(rng, (4, 8), device)
    service = serve(x, Deep(rng, device))
    service.serve(x, "call 1")
    took: dict[str, list[float]] = {"eager": [], "graph": []}
    with torch.no_grad():
        for _ in range(ROUNDS):
            for name, step in (("eager", service.model), ("graph", service.runner)):
                took[name].append(time_us(partial(run_steps, step, x)))
    ratio = min(took["graph"]) / min(took["eager"])
    measure("time_ratio", ratio, "×")
    what = ("the runner is hardly faster than the model itself", "运行器并不比模型本身快多少")
    look = (
        "The model's 96 launches are to be one. What does a call do beside copy, replay, copy?",
        "模型的 96 次启动应当变成一次。除了拷贝、重放、拷贝，调用还做了什么？",
    )
    expect.true(ratio <= MAX_RATIO, what, look, expected=f"<= {MAX_RATIO} ×", actual=f"{ratio:.2f} ×")
    service.serve(draw(rng, (4, 8), device), "a call afterwards")
    service.record(evidence)


def run_steps(step: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Run eight steps, each on the result of the last."""
    for _ in range(STEPS):
        x = step(x)
