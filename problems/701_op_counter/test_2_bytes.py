"""How many bytes the kernels read and write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

LOOKS = {
    "list": (
        "Arguments may be lists of tensors, and may come by keyword: look into all of them.",
        "参数可以是张量的列表，也可以用关键字给出：都要看到。",
    ),
    "broadcast": (
        "What a stride of 0 repeats is one element in memory. How many elements are there, not how many indices?",
        "步长 0 重复出来的，在内存里是同一个元素。要数的是元素，不是下标。",
    ),
    "written": (
        "The schema says which arguments are written to. In place, they are read as well, unless the operation is one "
        "of OVERWRITES; what is given as out= is only written.",
        "schema 说明哪些参数会被写入。原地操作也会读它们，除非操作在 OVERWRITES 里；用 out= 给出的只写不读。",
    ),
    "once": (
        "A tensor that is given twice is one tensor: tell tensors by identity.",
        "同一个张量给了两次，也还是一个张量：按身份区分。",
    ),
}

# Each case: what runs on a (64, 32) float32 tensor of 8,192 bytes; bytes read; bytes written; what to look at.
WORK: dict[str, tuple[Callable[[Tensor], Any], int, int, str]] = {
    "new": (lambda x: x + 1, 8192, 8192, "written"),
    "two_operands": (lambda x: torch.sub(x[:32], x[32:]), 8192, 4096, "once"),
    "the_same_twice": (lambda x: x * x, 8192, 8192, "once"),
    "a_row": (lambda x: x + x[0], 8192 + 128, 8192, "broadcast"),
    "an_expanded_row": (lambda x: x[0].expand(64, 32) * 2, 128, 8192, "broadcast"),
    "an_expanded_number": (lambda x: x[0, 0].expand(64, 32) * 2, 4, 8192, "broadcast"),
    "an_expanded_nothing": (lambda x: x[0].expand(0, 32) * 2, 0, 0, "broadcast"),
    "every_other": (lambda x: x[::2] * 2, 4096, 4096, "broadcast"),
    "a_sum": (lambda x: x.sum(), 8192, 4, "written"),
    "two_results": (lambda x: torch.max(x, dim=1), 8192, 64 * 4 + 64 * 8, "written"),
    "another_dtype": (lambda x: x.to(torch.float16), 8192, 4096, "written"),
    "a_mask": (lambda x: x > 0, 8192, 2048, "written"),
    "a_list": (lambda x: torch.cat([x, x[:32]]), 8192 + 4096, 8192 + 4096, "list"),
    "an_index": (lambda x: x[:, x.new_empty(3).fill_(0).to(torch.int64)], 8192 + 24 + 12, 768 + 24 + 12, "list"),
    "by_keyword": (lambda x: torch.sub(x[:32], other=x[32:]), 8192, 4096, "list"),
    "in_place": (lambda x: x.add_(1), 8192, 8192, "written"),
    "in_place_a_row": (lambda x: x.mul_(x.new_empty(32).zero_()), 8192 + 128, 8192 + 128, "written"),
    "a_list_in_place": (lambda x: torch._foreach_add_([x[:16], x[32:]], 1), 2048 + 4096, 2048 + 4096, "written"),
    "filled": (lambda x: x.fill_(3), 0, 8192, "written"),
    "zeroed": (lambda x: x.zero_(), 0, 8192, "written"),
    "copied_into": (lambda x: x[:32].copy_(x[32:]), 4096, 4096, "written"),
    "out": (lambda x: torch.add(x, 1, out=torch.empty_like(x)), 8192, 8192, "written"),
    "a_factory": (lambda x: torch.zeros_like(x), 8192, 8192, "written"),
    "a_new_factory": (lambda x: torch.zeros(5, device=x.device), 0, 20, "written"),
    "nothing": (lambda x: x[:0] + 1, 0, 0, "broadcast"),
    "only_views": (lambda x: x.t().view(8, 4, 64).expand(2, 8, 4, 64), 0, 0, "written"),
}


@pytest.mark.parametrize("case", list(WORK))
def test_bytes_read_and_written(desk: Any, draw: Any, case: str) -> None:
    """read_bytes and written_bytes are those of the tensors that go in, and come out.

    zh: read_bytes 和 written_bytes 就是进去的、出来的张量的字节数。
    """
    work, read, written, look = WORK[case]
    x = draw(64, 32)
    found = desk.read(desk.count(lambda: work(x)).total, "total")
    actual = {"read_bytes": found["read_bytes"], "written_bytes": found["written_bytes"]}
    what = (f"{case}: other bytes were counted", f"{case}：数到的字节数不对")
    desk.expect.equal(actual, {"read_bytes": read, "written_bytes": written}, what, LOOKS[look])
    desk.record()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.int8, torch.bool], ids=str)
def test_bytes_follow_the_dtype(desk: Any, draw: Any, rng: Any, dtype: torch.dtype) -> None:
    """An element has the bytes of its dtype, in any shape.

    zh: 元素的字节数取决于 dtype，形状任意。
    """
    shape = [rng.randrange(1, 9) for _ in range(rng.randrange(4))]
    x = draw(*shape, dtype=dtype)
    size_bytes = torch.Size(shape).numel() * dtype.itemsize
    counter = desk.count(lambda: (x.clone(), torch.logical_not(x)))
    found = desk.read(counter.total, "total")
    wanted = {
        "kernels": 2,
        "views": 0,
        "read_bytes": 2 * size_bytes,
        "written_bytes": size_bytes + torch.Size(shape).numel(),
    }
    desk.expect.equal(found, wanted, ("Other bytes were counted", "数到的字节数不对"), LOOKS["written"])
    desk.record()


def test_each_operation_has_its_own_bytes(desk: Any, draw: Any) -> None:
    """by_op keeps the bytes of each operation apart; total is the sum.

    zh: by_op 分开记录每个操作的字节，total 是它们的和。
    """
    x = draw(64, 32)
    counter = desk.count(lambda: (x + 1, x[:1] + 1, x.sum()))
    read = desk.read_all(counter.by_op, "by_op", "read_bytes")
    wanted = {"aten.add.Tensor": 8192 + 128, "aten.sum.default": 8192}
    desk.expect.equal(read, wanted, ("read_bytes is in the wrong place", "read_bytes 记错了地方"))
    total = desk.read(counter.total, "total")["read_bytes"]
    desk.expect.equal(total, sum(wanted.values()), ("total is not the sum", "total 不是它们的和"))
    desk.record()
