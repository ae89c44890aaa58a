"""Eager calls: forked, joined, without a wait of the host, and safe in their memory."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from support_branches import Broken, combine, make_branches
from support_words import explain_order
from torch import Tensor

LONG = 2_000_000
"""Cycles of a kernel that keeps a stream busy for about a millisecond."""


@pytest.mark.weight(2)
@pytest.mark.parametrize("stream", ["default_stream", "other_stream"])
def test_a_call_is_ordered(
    solution: ModuleType,
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    checker: Any,
    expect: Any,
    stream: str,
) -> None:
    """The input may still be in the making, and the caller may overwrite it and read the result at once.

    zh: 输入可能还在计算；调用者可以立刻覆盖它、读取结果。
    """
    branches = make_branches(3)
    layer, source = solution.ForkJoin(branches, combine), rows(4)
    caller = torch.cuda.default_stream() if stream == "default_stream" else torch.cuda.Stream(priority=-1)
    layer(source)
    torch.cuda.synchronize()
    with watch() as seen, torch.cuda.stream(caller):
        torch.cuda._sleep(LONG)
        x = -source
        kept = layer(x).clone()
        x.fill_(99)
    expect.ordered(seen, *explain_order(seen))
    checker.check(kept, -source, [branches], f"call from the {stream.replace('_', ' ')}")


@pytest.mark.weight(2)
def test_calls_from_two_streams_are_ordered(
    solution: ModuleType, rows: Callable[..., Tensor], watch: Callable[..., Any], checker: Any, expect: Any
) -> None:
    """Calls may come from two streams that nothing orders: no result is overwritten before combine has read it.

    zh: 调用可以来自两个没有先后的流：combine 读完之前，任何结果都不会被覆盖。
    """
    branches = make_branches(3)
    layer = solution.ForkJoin(branches, combine)
    callers = [torch.cuda.Stream(priority=-1), torch.cuda.Stream(priority=-1)]
    inputs, results = [rows(4) for _ in range(6)], []
    layer(inputs[0])
    torch.cuda.synchronize()
    with watch() as seen:
        for number, x in enumerate(inputs):
            with torch.cuda.stream(callers[number % 2]):
                torch.cuda._sleep(LONG // 10)
                results.append(layer(x))
    what = (
        "a branch's result went to somebody else while combine read it",
        "combine 还在读分支的结果，那块内存就给了别人",
    )
    look = (
        "A result is allocated on its side stream, and lent there again as soon as its name is gone. Who tells the "
        "allocator that the current stream still reads it?",
        "结果是在侧流上分配的，名字一消失，就会在那个流上再借出去。谁来告诉分配器：当前流还在读？",
    )
    expect.ordered(seen, what, look)
    for number, (x, y) in enumerate(zip(inputs, results, strict=True), 1):
        checker.check(y, x, [branches], f"call {number}, from stream {'BA'[number % 2]}")


@pytest.mark.weight(2)
@pytest.mark.parametrize("place", ["first_branch", "last_branch", "combine"])
def test_a_failed_call_is_joined_too(
    solution: ModuleType,
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    checker: Any,
    expect: Any,
    place: str,
) -> None:
    """When a branch or combine raises, the caller gets its exception and its stream back, and may overwrite the input.

    zh: 分支或 combine 抛出异常时，调用者得到那个异常和自己的当前流，并且可以立刻覆盖输入。
    """
    branches, broken = make_branches(3), Broken(2, 1)
    if place != "combine":
        branches[0 if place == "first_branch" else 2] = broken

    def combine_or_raise(*results: Tensor) -> Tensor:
        if place == "combine" and broken.is_broken:
            raise LookupError("no rule to combine them")
        return combine(*results)

    layer, x = solution.ForkJoin(branches, combine_or_raise), rows(4)
    caller = torch.cuda.Stream(priority=-1)
    torch.cuda.synchronize()
    with watch() as seen, torch.cuda.stream(caller):
        torch.cuda._sleep(LONG)
        what = ("the exception of a branch must reach the caller", "分支的异常应当交给调用者")
        expect.raises(LookupError, lambda: layer(x), what)
        current = torch.cuda.current_stream()
        x.fill_(2)
    what = ("after a failed call another stream is current", "失败的调用之后，当前流变了")
    expect.true(current == caller, what)
    expect.ordered(seen, *explain_order(seen))
    broken.is_broken = False
    checker.check(layer(x), x, [branches], "a call afterwards")


@pytest.mark.budget(syncs=0)
def test_a_call_never_waits(
    solution: ModuleType,
    rows: Callable[..., Tensor],
    watch: Callable[..., Any],
    checker: Any,
    expect: Any,
    measure: Any,
) -> None:
    """The host waits neither at the fork nor at the join.

    zh: 分叉和汇合时主机都不等待。
    """
    branches = make_branches(3)
    layer, inputs = solution.ForkJoin(branches, combine), [rows(4) for _ in range(4)]
    layer(inputs[0])
    torch.cuda.synchronize()
    with watch() as seen:
        results = [layer(x) for x in inputs]
    measure("syncs", len(seen.syncs), "host waits", places=seen.places)
    look = (
        "wait_stream makes a stream wait, on the device. synchronize makes the host wait, and nothing is launched.",
        "wait_stream 让流在设备上等；synchronize 让主机等，这期间什么都没有启动。",
    )
    expect.waits(seen, what=("a call makes the host wait", "调用让主机等待了"), look=look)
    for number, (x, y) in enumerate(zip(inputs, results, strict=True), 1):
        checker.check(y, x, [branches], f"call {number}")
