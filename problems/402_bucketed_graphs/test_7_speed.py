"""What a call costs the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest
import torch
from support_model import Layers
from torch import Tensor

LAYERS = 16
COUNTS = [3, 8, 1, 5, 2, 7, 4, 6]
ROUNDS = 2
MAX_RATIO = 0.4
MOST_LAUNCHES = 4


class Deep(Layers):
    """Many small kernels, each shorter than its launch: what a decode step looks like to the host."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output, (rows, 8), for x, (rows, 8), after 64 small kernels."""
        for _ in range(LAYERS):
            x = torch.clamp(torch.relu(x + 1) - x, -3, 3)
        return x

    def exact(self, x: Tensor) -> Any:
        """Return what the output must hold, as nested lists of floats, from float64 on the host."""
        return self(x.cpu().double()).tolist()


@pytest.mark.budget(syncs=0)
def test_a_call_never_waits(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
    measure: Any,
) -> None:
    """The host never waits for the device in a call, whatever the number of rows, seen for the first time or again.

    zh: 调用时主机从不等待设备，不论多少行，不论这个行数是第一次还是再次出现。
    """
    service = serve([1, 2, 4, 8])
    inputs = [rows(count) for count in (*COUNTS, 0, 3, 10)]
    torch.cuda.synchronize()
    with watch() as seen:
        results = [service.call(x) for x in inputs]
    measure("syncs", len(seen.syncs), "host waits", places=seen.places)
    what = ("a call waits for the device", "调用时等待了设备")
    look = (
        "Batch and result stay on the device, and the number of rows is known to the host. A capture waits, too.",
        "批和结果都留在设备上，行数主机本来就知道。捕获也会等待。",
    )
    expect.waits(seen, what=what, look=look)
    for x, y in zip(inputs, results, strict=True):
        service.check(y, x, f"{len(x)} rows")
    service.record(evidence)


@pytest.mark.weight(2)
def test_a_call_is_four_launches(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
) -> None:
    """However many kernels the model has and rows are missing, a call launches four times: batch, zeros, graph, result.

    zh: 不论模型有多少个 kernel、缺多少行，一次调用最多启动四次：批、零、图、结果。
    """
    service = serve([1, 2, 4, 8])
    inputs = [rows(count) for count in COUNTS]
    torch.cuda.synchronize()
    for x in inputs:
        with watch() as seen:
            y = service.call(x)
        what = (f"{len(x)} rows: a call launched more than four times", f"{len(x)} 行：一次调用启动了不止四次")
        look = (
            "Rows are copied and cleared together, each with one launch. What else is launched?",
            "所有行一起拷贝，一起清零，各一次启动。还启动了什么？",
        )
        expect.true(seen.launches <= MOST_LAUNCHES, what, look, seen.draw(), f"<= {MOST_LAUNCHES}", seen.launches)
        service.check(y, x, f"{len(x)} rows")
    service.record(evidence)


@pytest.mark.weight(2)
@pytest.mark.budget(time_ratio=MAX_RATIO)
def test_a_deep_model_is_faster_than_eager(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    rng: Random,
    device: str,
    evidence: Any,
    expect: Any,
    measure: Any,
    time_us: Any,
) -> None:
    """Batches of 1 to 8 rows through a model of 64 small kernels take at most 0.4 times as long as eager.

    zh: 模型有 64 个小 kernel，依次送入 1 到 8 行的批：耗时不超过 eager 的 0.4 倍。
    """
    service = serve([1, 2, 4, 8], Deep(rng, device))
    inputs = [rows(count) for count in COUNTS]
    service.serve(inputs[0], "a call of 3 rows")
    took: dict[str, list[float]] = {"eager": [], "graph": []}
    with torch.no_grad():
        for _ in range(ROUNDS):
            for name, step in (("eager", service.model), ("graph", service.runner)):
                took[name].append(time_us(partial(run_all, step, inputs)))
    ratio = min(took["graph"]) / min(took["eager"])
    measure("time_ratio", ratio, "×")
    what = ("the runner is hardly faster than the model itself", "运行器并不比模型本身快多少")
    look = (
        "The model's 64 launches are to be one. What does a call do beside copy, zeros, replay, copy?",
        "模型的 64 次启动应当变成一次。除了拷贝、清零、重放、拷贝，调用还做了什么？",
    )
    expect.true(ratio <= MAX_RATIO, what, look, expected=f"<= {MAX_RATIO} ×", actual=f"{ratio:.2f} ×")
    for x in inputs:
        service.serve(x, f"{len(x)} rows afterwards")
    service.record(evidence)


def run_all(step: Callable[[Tensor], Tensor], inputs: list[Tensor]) -> None:
    """Run each batch."""
    for x in inputs:
        step(x)
