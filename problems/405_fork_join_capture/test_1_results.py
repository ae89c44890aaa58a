"""What a layer returns, and on which streams its branches run."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from support_branches import combine, make_branches
from torch import Tensor

CALLS = 40
"""More than the 32 streams that PyTorch has of a priority."""


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16], ids=["float32", "float16", "bfloat16"]
)
def test_results_are_combined_in_order(
    solution: ModuleType, rows: Callable[..., Tensor], checker: Any, dtype: torch.dtype
) -> None:
    """A layer of three branches gives what the branches give one after another, combined in their order.

    zh: 三个分支的层，给出的就是逐个执行各分支、再按次序合并的结果。
    """
    branches = make_branches(3)
    layer = solution.ForkJoin(branches, combine)
    for number in range(1, 4):
        x = rows(5, dtype)
        checker.check(layer(x), x, [branches], f"call {number}")


@pytest.mark.parametrize("count", [1, 2, 4], ids=["1_branch", "2_branches", "4_branches"])
def test_a_layer_may_have_any_number_of_branches(
    solution: ModuleType, rows: Callable[..., Tensor], checker: Any, count: int
) -> None:
    """One branch, two or four; no row, one or an odd number of rows; any strides.

    zh: 一个、两个或四个分支；零行、一行或奇数行；任意步长。
    """
    branches = make_branches(count)
    layer = solution.ForkJoin(tuple(branches), combine)
    for x in (rows(0), rows(1), rows(7), rows(8).t()[:, 1::2]):
        checker.check(layer(x), x, [branches], f"x {list(x.shape)}, strides {x.stride()}")


@pytest.mark.weight(2)
def test_each_branch_keeps_its_stream(
    solution: ModuleType, rows: Callable[..., Tensor], checker: Any, expect: Any
) -> None:
    """The first branch runs on the current stream, each other one on a side stream of its own, the same in every call.

    zh: 第一个分支在当前流上运行，其余各有自己的侧流，每次调用都是同一个。
    """
    branches = make_branches(3)
    layer = solution.ForkJoin(branches, combine)
    caller, x = torch.cuda.Stream(priority=-1), rows(4)
    torch.cuda.synchronize()
    with torch.cuda.stream(caller):
        for _ in range(CALLS):
            y = layer(x)
        current = torch.cuda.current_stream()
    what = ("after a call another stream is current", "调用之后，当前流变了")
    look = ("with torch.cuda.stream(…) switches back; set_stream() does not.", "with torch.cuda.stream(…) 会切回来。")
    expect.true(current == caller, what, look)
    used = [set(branch.streams) for branch in branches]
    look = (
        "Streams are made once. Stream() takes the next of a pool of 32: made in each call, it comes to be the "
        "caller's own, and each new one has its own share of the allocator.",
        "流只创建一次。Stream() 从 32 个流的池里取下一个：每次都取，迟早取到调用者的流；每个新流还各占一份缓存。",
    )
    what = (f"{CALLS} calls: a branch ran on several streams", f"{CALLS} 次调用：有分支换过流")
    expect.equal([len(handles) for handles in used], [1, 1, 1], what, look)
    what = ("the first branch did not run on the current stream", "第一个分支没有在当前流上运行")
    expect.true(used[0] == {caller.cuda_stream}, what)
    what = ("branches share a stream, and can't overlap", "有分支共用一个流，无法重叠")
    expect.equal(len(set.union(*used)), 3, what, ("A stream is a queue.", "一个流就是一个队列。"))
    checker.check(y, x, [branches], f"call {CALLS}")
