"""How a runner is built: warmed up and captured, and no generator knows of it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from conftest import expect_positions
from support_model import WARM_UPS, Model, draw_from_two, draw_twice, drop, find_positions, read
from torch import Tensor

LONG = 2_000_000
"""Cycles of a kernel that keeps a stream busy for about a millisecond."""


@pytest.mark.weight(2)
@pytest.mark.parametrize("name", ["given", "default"])
def test_building_leaves_the_generators_alone(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    evidence: Any,
    expect: Any,
    name: str,
) -> None:
    """Seed and offset of every generator are after the constructor what they were before.

    zh: 构造之后，每个生成器的种子和偏移都与之前相同。
    """
    x = rows(4)
    generators = [generate(), generate()] if name == "given" else []
    before = find_positions(generators)
    trial = attempt(draw_from_two if name == "given" else drop, x, generators)
    expect_positions(expect, generators, before)
    trial.serve(x, "call 1")
    trial.record(evidence)


class Failing(Model):
    """Draws, and raises in its second call."""

    def __call__(self, x: Tensor, *generators: torch.Generator) -> Tensor:
        """Return the output, once."""
        y = super().__call__(x, *generators)
        if len(self.calls) == 2:  # of three
            raise LookupError("no weights for layer 7")
        return y


def test_a_failed_warm_up_leaves_the_generators_alone(
    solution: ModuleType,
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    evidence: Any,
    expect: Any,
) -> None:
    """What the model raises in its warm-up reaches the caller, and every generator is as before.

    zh: 模型在预热中抛出的异常交给调用者，每个生成器都与之前相同。
    """
    x, generators = rows(4), [generate()]
    before = find_positions(generators)
    what = ("the warm-up raises: that error must reach the caller", "预热抛出异常：应当原样交给调用者")
    expect.raises(LookupError, lambda: solution.SeededRunner(Failing(drop), x, generators), what)
    expect_positions(expect, generators, before)
    trial = attempt(drop, x, generators)
    trial.serve(x, "a call of another runner")
    trial.record(evidence)


class Settling(Model):
    """Sets itself up in its first three calls, and waits for the device meanwhile, as libraries do."""

    def __call__(self, x: Tensor, *generators: torch.Generator) -> Tensor:
        """Return the output; the first three calls must not be captured."""
        y = super().__call__(x, *generators)
        if len(self.calls) <= WARM_UPS:
            y.sum().item()
        return y


@pytest.mark.weight(2)
def test_the_model_runs_in_the_constructor_only(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    evidence: Any,
    expect: Any,
) -> None:
    """Three warm-up calls and one capture, on a side stream; a call of the runner only replays.

    zh: 在侧流上预热三次、捕获一次；调用运行器只是重放。
    """
    x = rows(4)
    model = Settling(draw_from_two)
    trial = attempt(model, x, [generate(), generate()])
    captured = [call.is_captured for call in model.calls]
    what = ("the model was not warmed up three times and captured once", "模型没有预热三次再捕获一次")
    expect.equal(captured, [False] * WARM_UPS + [True], what)
    default = torch.cuda.default_stream().cuda_stream
    what = ("the model ran on the default stream", "模型在默认流上运行了")
    expect.true(all(call.stream != default for call in model.calls), what)
    for number in range(1, 4):
        trial.serve(x, f"call {number}")
    what = ("the model's code ran in a call", "调用运行器时又执行了模型的代码")
    look = ("A replay draws new numbers by itself.", "重放自己就会取新的随机数。")
    expect.equal(len(model.calls), len(captured), what, look)
    trial.record(evidence)


def test_building_is_ordered_on_the_callers_stream(
    solution: ModuleType,
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
) -> None:
    """The example may still be in the making when the runner is built, and the first call may follow at once.

    zh: 构造时示例可能还在计算，第一次调用也可能紧跟着到来：一切仍按顺序执行。
    """
    source, generator, model = rows(4), generate(), Model(draw_twice)
    state = generator.get_state()
    torch.cuda.synchronize()
    with watch() as seen:
        torch.cuda._sleep(LONG)
        x = -source
        runner = solution.SeededRunner(model, x, [generator])
        y = runner(x)
    look = (
        "Who makes the example, who copies it, who reads the copy in the warm-up, who overwrites it? On which streams?",
        "谁产生示例，谁拷贝它，谁在预热中读那份拷贝，谁又覆盖它？各在哪个流上？",
    )
    what = ("building a runner and calling it: no order between two uses", "构造运行器并调用它：有两次使用没有先后")
    expect.ordered(seen, what, look)
    trial = attempt(model, x, [generator], runner)
    generator.set_state(state)
    trial.check(y, read(model.run(x, generator)), "the first call, right after the runner was built")
    trial.record(evidence)
