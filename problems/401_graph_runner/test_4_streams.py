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


@pytest.mark.weight(2)
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
    """The example may still be in the making when the runner is built, and the first call may follow at once.

    zh: 构造时示例输入可能还在计算，第一次调用也可能紧跟着到来：一切仍按顺序执行。
    """
    model, source = Layers(rng, device), rows(4)
    caller = torch.cuda.default_stream() if stream == "default_stream" else torch.cuda.Stream(priority=-1)
    torch.cuda.synchronize()
    with watch() as seen, torch.cuda.stream(caller):
        torch.cuda._sleep(LONG)
        example = -source
        runner = solution.GraphRunner(model, example)
        x = -example
        y = runner(x)
    what = (
        "building a runner and calling it: the same bytes are used without an order",
        "构造运行器并调用它：同一块内存被无序地使用",
    )
    look = (
        "Who makes the input, who reads it in the warm-up, who overwrites it in the first call? In which order?",
        "谁产生输入，谁在预热中读它，谁在第一次调用时覆盖它？后一个都要等前一个。",
    )
    expect.ordered(seen, what, look)
    service = serve(example, model, runner)
    service.check(y, x, "call 1, right after the runner was built")
    service.record(evidence)


@pytest.mark.weight(2)
@pytest.mark.parametrize("stream", ["default_stream", "other_stream"])
def test_a_call_is_ordered_on_the_callers_stream(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
    stream: str,
) -> None:
    """A call takes its input from the caller's current stream, where it may still be in the making.

    zh: 调用从调用者的当前流取得输入（输入可能还在那里计算），结果也在该流上可用。
    """
    caller = torch.cuda.default_stream() if stream == "default_stream" else torch.cuda.Stream(priority=-1)
    service, source = serve(rows(4)), rows(4)
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
    service.check(y, kept[0], f"call from the {stream.replace('_', ' ')}")
    service.check(kept[1], kept[0], "the result, as the caller's stream read it")
    service.record(evidence)


@pytest.mark.weight(2)
def test_calls_from_two_streams_are_ordered(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
) -> None:
    """Calls may come from several streams that nothing orders: the runner's own memory is the runner's own business.

    zh: 调用可以来自多个彼此没有先后的流：运行器自己的内存由运行器自己负责排序。
    """
    callers = [torch.cuda.Stream(priority=-1), torch.cuda.Stream(priority=-1)]
    service = serve(rows(4))
    inputs = [rows(4) for _ in range(6)]
    results = []
    torch.cuda.synchronize()
    with watch() as seen:
        for number, x in enumerate(inputs):
            with torch.cuda.stream(callers[number % 2]):
                torch.cuda._sleep(LONG // 10)
                y = service.call(x)
                torch.cuda._sleep(LONG // 10)
                results.append(y.clone())
                del y  # its memory is used again while the other stream may still be behind
    what = (
        "calls from two streams: the same bytes are used without an order",
        "来自两个流的调用：同一块内存被无序地使用",
    )
    look = (
        "All calls share the graph's input and output. What makes a call wait for the one before, on another stream?",
        "所有调用共用图的输入和输出。上一次调用在另一个流上时，靠什么让这一次等它？",
    )
    expect.ordered(seen, what, look)
    for number, (x, y) in enumerate(zip(inputs, results, strict=True), 1):
        service.check(y, x, f"call {number}, from stream {'BA'[number % 2]}")
    service.record(evidence)


def test_a_runner_may_die_while_its_work_is_queued(
    solution: ModuleType,
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    rng: Random,
    device: str,
    watch: Callable[..., Any],
    evidence: Any,
    expect: Any,
) -> None:
    """When the last reference goes right after a call, that call still finishes undisturbed.

    zh: 调用之后立刻放弃最后一个引用，那次调用仍能不受干扰地完成。
    """
    model, example, x = Layers(rng, device), rows(4), rows(4)
    runner = solution.GraphRunner(model, example)
    caller = torch.cuda.Stream(priority=-1)
    torch.cuda.synchronize()
    with watch() as seen:
        with torch.cuda.stream(caller):
            torch.cuda._sleep(LONG)
            y = runner(x)
        del runner
        others = [torch.full_like(x, 9) for _ in range(8)]
    what = (
        "the runner's memory went to somebody else while its last call was queued",
        "最后一次调用还在排队，运行器的内存就给了别人",
    )
    look = (
        "A freed block goes back to the stream it was allocated on. Who tells the allocator which others still use it?",
        "释放的块回到分配它的那个流。谁来告诉分配器还有哪些流在用它？",
    )
    expect.ordered(seen, what, look)
    torch.cuda.synchronize()
    service = serve(example, model, solution.GraphRunner(model, example))
    service.check(y, x, "the last call of a runner that is gone")
    evidence.exact("others", [len(others), float(others[-1].sum().item())])
    service.record(evidence)
