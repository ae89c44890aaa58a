"""How large a result is, when it is larger than anybody meant, and a guard that says so before it is made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from support_torch import draw_shapes, tell_shape
from torch import Tensor

LOOK_BYTES = (
    "The elements of the common shape, times their size; the allocator hands out multiples of 512 bytes, and nothing "
    "for no element.",
    "共同形状的元素数乘以元素大小；分配器给出的总是 512 字节的整数倍，没有元素就什么也不给。",
)
LOOK_OUTER = (
    "Compare numbers of elements, not shapes: (B, T, D) + (D,) is no larger than its first operand, (B,) + (B, 1) is "
    "larger than both.",
    "比较的是元素数，不是形状：(B, T, D) + (D,) 不比第一个操作数大，(B,) + (B, 1) 比两个都大。",
)
LOOK_CALLED = (
    "Decide by the shapes, before op is called: they are known on the host, and nothing need be launched.",
    "在调用 op 之前就凭形状判断：形状主机本来就知道，什么也不必启动。",
)

DTYPES = {1: torch.uint8, 2: torch.float16, 4: torch.float32, 8: torch.float64}
OUTER: list[tuple[list[tuple[int, ...]], bool]] = [
    ([(5,), (5, 1)], True),
    ([(5, 1), (5, 1)], False),
    ([(1,), (1, 1)], False),
    ([(2, 3, 4), (4,)], False),
    ([(2, 1, 4), (1, 3, 4)], True),
    ([(2, 1), (1, 3), (2, 3)], False),
    ([(4, 1, 1), (3, 1), (2,)], True),
    ([(3, 4), ()], False),
    ([(2, 1), (2, 0)], False),
    ([(2, 3), (1, 1, 1)], False),
    ([(6,)], False),
]


class Noted:
    """An operation that notes what it is called with."""

    def __init__(self, op: Callable[..., Tensor]) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._op = op

    def __call__(self, *operands: Any) -> Tensor:
        """Call the operation."""
        self.calls.append(operands)
        return self._op(*operands)


def _draw(rng: Any, shape: tuple[int, ...]) -> Tensor:
    count = torch.Size(shape).numel()
    return torch.tensor([rng.randrange(9) for _ in range(count)], dtype=torch.int64).view(shape)


@pytest.mark.parametrize("element_bytes", list(DTYPES))
def test_a_result_takes_whole_blocks(desk: Any, device: str, watch: Any, rng: Any, element_bytes: int) -> None:
    """result_bytes() is the growth of memory_allocated() on the device, for results of random shapes.

    zh: result_bytes() 就是设备上 memory_allocated() 的增长，结果的形状随机。
    """
    dtype = DTYPES[element_bytes]
    chosen = [[(64, 1, 8), (1, 32, 8)], [(512,), (1,)], [(513,), ()], [(), ()], [(0,), (1,)]]
    for shapes in chosen + [draw_shapes(rng, 2, wrong=0) for _ in range(6)]:
        first, second = (torch.ones(shape, dtype=dtype, device=device) for shape in shapes)
        torch.add(first, second)
        with watch() as seen:
            torch.add(first, second)
        desk.ask("result_bytes", element_bytes, *shapes, wanted=seen.peak_growth_bytes, look=LOOK_BYTES)
    desk.record()


def test_larger_than_each_operand(desk: Any, rng: Any) -> None:
    """is_outer() says whether the result has more elements than each operand.

    zh: is_outer() 回答结果的元素是否比每个操作数都多。
    """
    for shapes, wanted in OUTER:
        desk.ask("is_outer", *shapes, wanted=wanted, look=LOOK_OUTER)
    for _ in range(60):
        shapes = draw_shapes(rng, rng.randrange(1, 4), wrong=0)
        counts = [torch.Size(shape).numel() for shape in [tell_shape(shapes), *shapes]]
        desk.ask("is_outer", *shapes, wanted=counts[0] > max(counts[1:]), look=LOOK_OUTER)
    desk.record()


@pytest.mark.budget(syncs=0)
def test_a_guarded_operation_is_the_operation(
    solution: Any, expect: Any, evidence: Any, measure: Any, device: str, watch: Any, rng: Any
) -> None:
    """What fits is computed by one call of op, with the operands as they are, and without a wait.

    zh: 合适的操作数原样交给 op，只调用一次，也不等待。
    """
    for shapes in ([(4, 3), (3,)], [(4, 1), (4, 1)], [(2, 3), ()], [(0, 3), (3,)]):
        values = [_draw(rng, shape) for shape in shapes]
        operands = [value.to(device) for value in values]
        op = Noted(torch.sub)
        with expect.unchanged(**dict(zip("ab", operands, strict=True))), watch() as seen:
            answer = solution.guarded(op, *operands)
        result = expect.tensor(answer, "guarded()", shape=tell_shape(shapes), device=device, dtype=torch.int64)
        expect.equal(len(op.calls), 1, ("guarded() must call op once", "guarded() 应当只调用 op 一次"))
        is_same = all(given is operand for given, operand in zip(op.calls[0], operands, strict=True))
        expect.true(is_same, ("op did not get the operands themselves", "交给 op 的不是操作数本身"))
        expect.equal(result.cpu(), values[0] - values[1], ("guarded() is not op's result", "guarded() 不是 op 的结果"))
        measure("syncs", len(seen.syncs), places=seen.places)
        evidence.exact("result", result.cpu().tolist())


def test_numbers_are_operands_too(solution: Any, expect: Any, evidence: Any, device: str) -> None:
    """A Python number has no dimension, in any place.

    zh: Python 的数没有维，放在哪个位置都一样。
    """
    x = torch.arange(3.0, device=device)
    answers = [solution.guarded(torch.mul, x, 2), solution.guarded(torch.sub, x, 0.5)]
    answers += [
        solution.guarded(torch.where, x > 1, x, 7.0),
        solution.guarded(torch.add, torch.ones((), device=device), 1),
    ]
    lists = [expect.tensor(answer, "guarded()", device=device).cpu().tolist() for answer in answers]
    wanted = [[0.0, 2.0, 4.0], [-0.5, 0.5, 1.5], [7.0, 7.0, 2.0], 2.0]
    expect.equal(lists, wanted, ("A Python number was not taken as it is", "Python 的数没有被原样使用"))
    evidence.exact("lists", lists)


@pytest.mark.parametrize("shapes", [[(64,), (64, 1)], [(8, 1, 4), (1, 8, 4)]], ids=str)
def test_what_nobody_meant_is_refused(
    solution: Any, expect: Any, evidence: Any, device: str, watch: Any, shapes: list[tuple[int, ...]]
) -> None:
    """(B,) with (B, 1) raises OuterBroadcast before anything is launched or allocated; with outer=True it runs.

    zh: (B,) 与 (B, 1) 抛出 OuterBroadcast，什么也没启动、没分配；带 outer=True 就照常执行。
    """
    first, second = (torch.ones(shape, device=device) for shape in shapes)
    what = (f"{shapes} went through the guard", f"{shapes} 没有被拦下")
    with watch() as seen:
        expect.raises(solution.OuterBroadcast, lambda: solution.guarded(torch.sub, first, second), what, LOOK_OUTER)
    figures = {"launches": seen.launches, "bytes": seen.peak_growth_bytes}
    what = ("The guard found out too late", "拦得太晚了")
    expect.equal(figures, {"launches": 0, "bytes": 0}, what, LOOK_CALLED)
    meant = expect.tensor(solution.guarded(torch.sub, first, second, outer=True), "guarded()", shape=tell_shape(shapes))
    evidence.exact("meant", [list(meant.shape), float(meant.abs().sum())])


def test_what_does_not_fit_never_reaches_op(solution: Any, expect: Any, desk: Any, device: str) -> None:
    """Operands that cannot be broadcast are a ValueError in PyTorch's words, with outer=True too, and op is not called.

    zh: 无法广播的操作数抛 ValueError，措辞与 PyTorch 相同，带 outer=True 也一样，而且不调用 op。
    """
    shapes = [(2, 3), (2,)]
    operands = [torch.ones(shape, device=device) for shape in shapes]
    op = Noted(torch.add)
    for outer in (False, True):
        what = ("Operands that do not fit are a ValueError", "不匹配的操作数应抛 ValueError")
        ask = partial(solution.guarded, op, *operands, outer=outer)
        error = expect.raises(ValueError, ask, what, LOOK_CALLED)
        expect.equal(str(error), tell_shape(shapes), ("The words are not PyTorch's", "措辞与 PyTorch 不同"))
    expect.equal(op.calls, [], ("op was called", "op 被调用了"), LOOK_CALLED)
    desk.match(shapes, tell_shape(shapes))
    desk.record()
