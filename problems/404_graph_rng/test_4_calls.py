"""What a call leaves alone, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest
import torch
from support_model import draw_twice, drop, read
from torch import Tensor

LAYERS = 16
STEPS = 6
ROUNDS = 2
MAX_RATIO = 0.4


def test_results_and_inputs_are_the_callers(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    evidence: Any,
    expect: Any,
) -> None:
    """A result survives the next call; neither example nor input is written to.

    zh: 结果在下一次调用之后保持不变；示例和输入都不会被写。
    """
    example, x = rows(4), rows(4)
    with expect.unchanged(example=example, x=x):
        trial = attempt(draw_twice, example, [generate()])
        first = trial.serve(x, "call 1")
        kept = read(first)
    example.fill_(2)
    trial.serve(x, "call 2, after the caller has overwritten the example")
    look = ("Every replay writes to the same memory.", "每次重放都写同一块内存。")
    expect.equal(read(first), kept, ("the result of call 1 changed in call 2", "第 2 次调用改变了第 1 次的结果"), look)
    trial.record(evidence)


@pytest.mark.budget(syncs=0)
def test_a_call_never_waits(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
    measure: Any,
) -> None:
    """The host never waits for the device in a call.

    zh: 调用时主机从不等待设备。
    """
    x = rows(4)
    trial = attempt(drop, x, [generate()])
    torch.cuda.synchronize()
    with watch() as seen:
        for _ in range(4):
            trial.runner(x)
    measure("syncs", len(seen.syncs), "host waits", places=seen.places)
    expect.waits(seen, what=("a call waits for the device", "调用时等待了设备"))
    trial.serve(x, "a call afterwards")
    trial.record(evidence)


def wander(x: Tensor, generator: torch.Generator) -> Tensor:
    """Return x after 64 small kernels, 16 of which draw."""
    for _ in range(LAYERS):
        x = torch.clamp(x + torch.rand(x.shape, device=x.device, generator=generator) - 0.5, -3, 3)
    return x


@pytest.mark.weight(2)
@pytest.mark.budget(time_ratio=MAX_RATIO)
def test_many_draws_are_faster_than_eager(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    evidence: Any,
    rng: Random,
    expect: Any,
    measure: Any,
    time_us: Any,
) -> None:
    """A model of 64 small kernels, 16 of which draw, takes at most 0.4 times as long as eager.

    zh: 模型有 64 个小 kernel，其中 16 个取随机数：耗时不超过 eager 的 0.4 倍。
    """
    x, generator = rows(4), generate()
    trial = attempt(wander, x, [generator])
    trial.serve(x, "call 1")
    took: dict[str, list[float]] = {"eager": [], "graph": []}
    with torch.no_grad():
        for _ in range(ROUNDS):
            for name, step in (("eager", partial(wander, generator=generator)), ("graph", trial.runner)):
                took[name].append(time_us(partial(run_steps, step, x)))
    ratio = min(took["graph"]) / min(took["eager"])
    measure("time_ratio", ratio, "×")
    what = ("the runner is hardly faster than the model itself", "运行器并不比模型本身快多少")
    look = ("The model's 64 launches are to be one.", "模型的 64 次启动应当变成一次。")
    expect.true(ratio <= MAX_RATIO, what, look, expected=f"<= {MAX_RATIO} ×", actual=f"{ratio:.2f} ×")
    generator.manual_seed(rng.getrandbits(32))  # how often a call was timed is no evidence
    trial.serve(x, "a call afterwards")
    trial.record(evidence)


def run_steps(step: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Run six steps, each on the result of the last."""
    for _ in range(STEPS):
        x = step(x)
