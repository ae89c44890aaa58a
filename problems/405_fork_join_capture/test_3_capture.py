"""The same layers in a graph: every branch is part of it, and every replay does it all again."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from support_branches import Branch, Broken, Settling, combine, make_branches
from support_words import LOOK_REPLAY
from torch import Tensor


def stack(solution: ModuleType, layers: list[list[Branch]]) -> Callable[[Tensor], Tensor]:
    """Return a model of several layers, one after another."""
    joined = [solution.ForkJoin(branches, combine) for branches in layers]

    def model(x: Tensor) -> Tensor:
        for layer in joined:
            x = layer(x)
        return x

    return model


@pytest.mark.weight(3)
@pytest.mark.parametrize("case", ["1_branch", "2_branches", "3_branches", "3_layers"])
def test_replays_follow_their_inputs(
    solution: ModuleType,
    rows: Callable[..., Tensor],
    capture: Callable[..., Any],
    watch: Callable[..., Any],
    checker: Any,
    expect: Any,
    case: str,
) -> None:
    """Each replay runs all branches on the input of its moment, in order, and without a race.

    zh: 每次重放都以当时的输入执行所有分支，有先有后，没有竞态。
    """
    count = int(case[0])
    layers = [make_branches(3) for _ in range(3)] if case == "3_layers" else [make_branches(count)]
    example, inputs, results = rows(5), [rows(5) for _ in range(3)], []
    torch.cuda.synchronize()
    with watch() as seen:
        captured = capture(stack(solution, layers), example)
        for x in inputs:
            captured.input.copy_(x)
            captured.graph.replay()
            results.append(captured.output.clone())
    look = (
        "An edge is missing in the graph: which branch does not wait for the fork, or is not waited for by the join, "
        "before combine reads?",
        "图里少了一条边：哪个分支没有等分叉，或者 combine 读之前没有等它汇合？",
    )
    expect.ordered(
        seen, ("two nodes of the graph use the same bytes without an order", "图中两个节点无序地使用同一块内存"), look
    )
    for number, (x, y) in enumerate(zip(inputs, results, strict=True), 1):
        checker.check(y, x, layers, f"replay {number}", LOOK_REPLAY)


@pytest.mark.weight(2)
def test_a_layer_works_in_the_capture_of_others(
    solution: ModuleType, rows: Callable[..., Tensor], checker: Any
) -> None:
    """A layer that has run eagerly is captured by somebody else's torch.cuda.graph, twice.

    zh: eager 运行过的层，也能被别人的 torch.cuda.graph 捕获，而且可以捕获两次。
    """
    branches = make_branches(3)
    layer, x = solution.ForkJoin(branches, combine), rows(5)
    checker.check(layer(x), x, [branches], "eager")
    torch.cuda.synchronize()
    for number in (1, 2):
        graph = torch.cuda.CUDAGraph()
        with checker.capturing(), torch.cuda.graph(graph):
            y = layer(x)
        x.copy_(rows(5))
        graph.replay()
        checker.check(y, x, [branches], f"graph {number}", LOOK_REPLAY)
        checker.check(layer(x), x, [branches], f"eager, after graph {number}")


def test_a_branch_may_fork_itself(
    solution: ModuleType, rows: Callable[..., Tensor], capture: Callable[..., Any], checker: Any
) -> None:
    """A branch may be a layer with branches of its own.

    zh: 分支本身可以又是一个带分支的层。
    """
    inner, outer = make_branches(2), make_branches(3)
    layer = solution.ForkJoin([solution.ForkJoin(inner, combine), *outer], combine)
    captured = capture(layer, rows(4))
    for number in range(1, 3):
        x = rows(4)
        captured.input.copy_(x)
        captured.graph.replay()
        nested: list[Any] = [lambda host: combine(*(branch(host) for branch in inner)), *outer]
        checker.check(captured.output, x, [nested], f"replay {number}", LOOK_REPLAY)


@pytest.mark.weight(2)
def test_the_model_has_settled_before_the_capture(
    solution: ModuleType, rows: Callable[..., Tensor], capture: Callable[..., Any], checker: Any
) -> None:
    """A branch that sets itself up in its first three calls is called three times before it is captured.

    zh: 分支在前三次调用里才完成初始化：捕获之前要先调用它三次。
    """
    branches: list[Branch] = [Branch(1, 0), Settling(2, 1)]
    captured = capture(stack(solution, [branches]), rows(4))
    x = rows(4)
    captured.input.copy_(x)
    captured.graph.replay()
    checker.check(captured.output, x, [branches], "replay 1", LOOK_REPLAY)


@pytest.mark.parametrize("stream", ["default_stream", "other_stream"])
def test_the_example_stays_the_callers(
    solution: ModuleType,
    rows: Callable[..., Tensor],
    capture: Callable[..., Any],
    watch: Callable[..., Any],
    checker: Any,
    expect: Any,
    stream: str,
) -> None:
    """The example may be in the making when capture() is called, is not written to, and may be overwritten afterwards.

    zh: 调用 capture() 时示例可能还在计算；它不会被写；之后调用者可以随意覆盖。
    """
    branches = make_branches(2)
    model, source = stack(solution, [branches]), rows(4)
    caller = torch.cuda.default_stream() if stream == "default_stream" else torch.cuda.Stream(priority=-1)
    torch.cuda.synchronize()
    with watch() as seen, torch.cuda.stream(caller):
        torch.cuda._sleep(2_000_000)
        example = -source
        captured = capture(model, example)
        current = torch.cuda.current_stream()
        kept = example.clone()
        captured.input.copy_(source)
        example.fill_(99)
        captured.graph.replay()
        y = captured.output.clone()
    expect.true(current == caller, ("after capture() another stream is current", "capture() 之后，当前流变了"))
    look = (
        "The warm-up runs on a stream of its own: who waits for whom, before it and after it?",
        "预热在另一个流上：之前谁等谁，之后谁等谁？",
    )
    expect.ordered(
        seen, ("capture(): the same bytes are used without an order", "capture()：同一块内存被无序地使用"), look
    )
    expect.equal(kept, -source, ("capture() has changed the example", "capture() 改动了示例"))
    checker.check(y, source, [branches], "a replay, after the caller has overwritten the example", LOOK_REPLAY)


def test_a_failed_capture_leaves_nothing_open(
    solution: ModuleType, rows: Callable[..., Tensor], capture: Callable[..., Any], checker: Any, expect: Any
) -> None:
    """When a branch raises while it is captured, its own exception reaches the caller, and the next capture works.

    zh: 分支在捕获时抛出异常：调用者得到的就是那个异常，下一次捕获照常成功。
    """
    branches = make_branches(3)
    broken = branches[2] = Broken(2, 1)
    broken.is_broken = False
    model, calls = stack(solution, [branches]), []

    def fail_when_captured(x: Tensor) -> Tensor:
        calls.append(1)
        broken.is_broken = torch.cuda.is_current_stream_capturing()
        return model(x)

    look = (
        "An exception leaves the side streams unjoined, and then the end of the capture raises an error of its own.",
        "异常让侧流没能汇合，捕获结束时于是抛出它自己的错误。",
    )
    what = ("the exception of a branch must reach the caller of capture()", "分支的异常应当交给 capture() 的调用者")
    expect.raises(LookupError, lambda: solution.capture(fail_when_captured, rows(4)), what, look)
    broken.is_broken = False
    captured, x = capture(model, rows(4)), rows(4)
    captured.input.copy_(x)
    captured.graph.replay()
    checker.check(captured.output, x, [branches], "a replay of the next capture", LOOK_REPLAY)
