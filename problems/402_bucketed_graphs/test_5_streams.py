"""Who calls from which stream: everything stays in order, without a wait of the host."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from support_model import Layers
from torch import Tensor

LONG = 2_000_000
"""Cycles of a kernel that keeps a stream busy for about a millisecond."""


@pytest.mark.parametrize("stream", ["default_stream", "other_stream"])
def test_building_is_ordered_on_the_callers_stream(
    solution: ModuleType,
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    rng: Random,
    device: str,
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
    stream: str,
) -> None:
    """The model's weights may still be in the making when the runner is built, and the first call may follow at once.

    zh: 构造时模型的权重可能还在计算，第一次调用也可能紧跟着到来：一切仍按顺序执行。
    """
    model, example, source = Layers(rng, device), rows(1), rows(3)
    caller = torch.cuda.default_stream() if stream == "default_stream" else torch.cuda.Stream(priority=-1)
    torch.cuda.synchronize()
    with watch() as seen, torch.cuda.stream(caller):
        torch.cuda._sleep(LONG)
        model.first.neg_()
        runner = solution.BucketedRunner(model, example, [2, 4])
        x = -source
        y = runner(x)
    what = (
        "building a runner and calling it: the same bytes are used without an order",
        "构造运行器并调用它：同一块内存被无序地使用",
    )
    look = (
        "Who writes the weights and the runner's input, who reads them in the warm-up, who overwrites the input next?",
        "谁写权重和运行器的输入，谁在预热中读它们，接着谁又覆盖输入？后一个都要等前一个。",
    )
    expect.ordered(seen, what, look)
    service = serve([2, 4], model, runner=runner)
    service.check(y, x, "3 rows, right after the runner was built")
    service.record(evidence)


@pytest.mark.parametrize("stream", ["default_stream", "other_stream"])
def test_a_call_is_ordered_on_the_callers_stream(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
    stream: str,
) -> None:
    """A call takes its batch from the caller's current stream, where it may still be in the making.

    zh: 调用从调用者的当前流取得批（批可能还在那里计算），结果也在该流上可用。
    """
    caller = torch.cuda.default_stream() if stream == "default_stream" else torch.cuda.Stream(priority=-1)
    service, source = serve([2, 4]), rows(3)
    torch.cuda.synchronize()
    with watch() as seen, torch.cuda.stream(caller):
        torch.cuda._sleep(LONG)
        x = -source
        y = service.call(x)
        kept = x.clone(), y.clone()
        x.fill_(0)
    what = ("calling the runner: the same bytes are used without an order", "调用运行器：同一块内存被无序地使用")
    look = (
        "On which stream is x ready, on which must the result be? Each step of the call runs there, or waits for it.",
        "x 在哪个流上就绪，结果要在哪个流上就绪？调用的每一步都在那里执行，或者等待它。",
    )
    expect.ordered(seen, what, look)
    service.check(kept[1], kept[0], f"3 rows from the {stream.replace('_', ' ')}")
    service.record(evidence)


@pytest.mark.weight(2)
@pytest.mark.parametrize("case", ["one_graph", "two_graphs"])
def test_calls_from_two_streams_are_ordered(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
    case: str,
) -> None:
    """Calls may come from streams that nothing orders: graphs that share memory never run side by side.

    zh: 调用可以来自彼此没有先后的流：共用内存的图绝不会同时运行。
    """
    callers = [torch.cuda.Stream(priority=-1), torch.cuda.Stream(priority=-1)]
    counts = [3, 3, 4, 4] if case == "one_graph" else [3, 7, 4, 8]
    service = serve([4, 8])
    inputs = [rows(count) for count in counts]
    results = []
    torch.cuda.synchronize()
    with watch() as seen:
        for number, x in enumerate(inputs):
            with torch.cuda.stream(callers[number % 2]):
                torch.cuda._sleep(LONG // 10)
                results.append(service.call(x).clone())
    what = (
        "calls from two streams: the same bytes are used without an order",
        "来自两个流的调用：同一块内存被无序地使用",
    )
    look = (
        "All graphs share the input and the pool. What makes a call wait for the one before, on another stream?",
        "所有的图共用输入和内存池。上一次调用在另一个流上时，靠什么让这一次等它？",
    )
    expect.ordered(seen, what, look)
    for number, (x, y) in enumerate(zip(inputs, results, strict=True)):
        service.check(y, x, f"{len(x)} rows, from stream {'AB'[number % 2]}")
    service.record(evidence)
