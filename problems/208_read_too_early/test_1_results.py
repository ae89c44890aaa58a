"""What comes back: the right bytes, whatever was pushed, and a tensor that is the caller's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.uint8, torch.bool, torch.complex64]
SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 4), (0,), (3, 0, 2)]

STRIDES: dict[str, Callable[[Tensor], Tensor]] = {
    "transposed": lambda x: x.t(),
    "every_other_column": lambda x: x[:, ::2],
    "rows_from_the_second": lambda x: x[1:],
    "one_column": lambda x: x[:, 3],
    "expanded": lambda x: x[:1].expand(6, -1),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
def test_any_dtype_comes_back(desk: Any, device: str, dtype: torch.dtype) -> None:
    """A result has the dtype of what was pushed, bit for bit.

    zh: 结果的 dtype 与推入的相同，每一位都一样。
    """
    box = desk.open(2)
    for number in range(3):
        wanted = desk.draw(5, 3, dtype=dtype)
        desk.take(desk.push(box, wanted.to(device)), wanted, number)
    desk.settle()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_shape_comes_back(desk: Any, device: str, shape: tuple[int, ...]) -> None:
    """A result has the shape of what was pushed, also with 0 elements, or with no dimension.

    zh: 结果的形状与推入的相同，0 个元素或 0 维也一样。
    """
    wanted = desk.draw(*shape)
    desk.read(desk.push(desk.open(1), wanted.to(device)), wanted)


@pytest.mark.parametrize("strides", list(STRIDES))
def test_any_strides_come_back(desk: Any, device: str, strides: str) -> None:
    """A view is pushed, its values come back, contiguous.

    zh: 推入视图，取回它的值，而且连续。
    """
    make = STRIDES[strides]
    wanted = desk.draw(6, 8)
    desk.read(desk.push(desk.open(1), make(wanted.to(device))), make(wanted).contiguous())


def test_a_tensor_may_fill_its_slot(desk: Any, device: str) -> None:
    """A tensor of exactly slot_bytes fits; one of a byte more is a ValueError, and takes no slot.

    zh: 恰好 slot_bytes 字节的张量放得下；多一个字节就抛 ValueError，也不占槽。
    """
    box = desk.open(1, slot_bytes=100)
    what = ("A tensor larger than a slot was not refused", "比槽大的张量没有被拒绝")
    desk.refuse(ValueError, box, torch.zeros(101, dtype=torch.uint8, device=device), what)
    desk.refuse(ValueError, desk.open(1, slot_bytes=100), torch.zeros(26, device=device), what)
    wanted = desk.draw(25)
    desk.read(desk.push(box, wanted.to(device)), wanted)


@pytest.mark.parametrize("slots", [0, -1])
def test_a_mailbox_has_a_slot(desk: Any, device: str, solution: Any, expect: Any, slots: int) -> None:
    """Fewer than 1 slot is a ValueError; 1 is enough.

    zh: 槽数小于 1 时抛 ValueError；1 个就够。
    """
    what = (f"ResultMailbox({slots}, 64) was accepted", f"ResultMailbox({slots}, 64) 被接受了")
    expect.raises(ValueError, lambda: solution.ResultMailbox(slots, 64), what)
    wanted = desk.draw(3)
    desk.read(desk.push(desk.open(1), wanted.to(device)), wanted)


def test_a_result_has_no_graph(desk: Any, device: str) -> None:
    """A tensor that autograd follows is pushed, and what comes back has no graph.

    zh: 推入 autograd 正在跟踪的张量，取回的结果不带图。
    """
    box = desk.open(1)
    for number in range(2):
        wanted = desk.draw(4)
        leaf = wanted.to(device).requires_grad_()
        desk.read(desk.push(box, leaf * 2), wanted * 2, number)


def test_results_are_the_callers_to_keep(desk: Any, device: str, expect: Any) -> None:
    """A result never changes, however often its slot is used again; each read() of a ticket returns it.

    zh: 不论槽被重用多少次，结果都不变；对同一张票每次 read() 都返回它。
    """
    box = desk.open(2)
    wanted = [desk.draw(6) for _ in range(8)]
    tickets = []
    kept = []
    for number, tensor in enumerate(wanted):
        tickets.append(desk.push(box, tensor.to(device)))
        kept.append(desk.take(tickets[-1], tensor, number))
    for number, (tensor, result) in enumerate(zip(wanted, kept, strict=True)):
        what = (f"The result of ticket {number} changed after it was read", f"票 {number} 的结果在读取之后又变了")
        look = (
            "Is the slot itself handed out? It is lent again, and the caller's result with it.",
            "交出去的是不是槽本身？槽会再借出去，调用者手里的结果也就跟着变。",
        )
        expect.equal(result, tensor, what, look)
        again = ("A second read() returned another tensor", "第二次 read() 返回了另一个张量")
        expect.true(tickets[number].read() is result, again)
    desk.settle()
