"""The right bytes, whatever the chunks are and whatever compute makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
import torch
from support_chunks import Arithmetic, double, draw_chunk
from torch import Tensor


def test_chunks_come_back_computed(trial: Any, rng: Random) -> None:
    """Each chunk goes to the device, through compute, and back, in order.

    zh: 每一块都拷到设备、经过 compute 再拷回来，次序不变。
    """
    columns = rng.randrange(3, 40)
    rows = [rng.randrange(5, 30) for _ in range(5)]
    trial.run([draw_chunk(rng, count, columns, pinned=True) for count in [*rows, 1]])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 9])
def test_any_number_of_chunks(trial: Any, rng: Random, count: int) -> None:
    """No chunk, one, fewer than the depth, as many, more: one result each.

    zh: 没有块、只有一块、少于深度、等于深度、多于深度：每块都恰有一个结果。
    """
    trial.run([draw_chunk(rng, 7, pinned=True) for _ in range(count)], depth=3)


@pytest.mark.parametrize("depth", [1, 2, 16])
def test_any_depth(trial: Any, rng: Random, depth: int) -> None:
    """Depth 1 works through one chunk after the other; a depth beyond the number of chunks does no harm.

    zh: 深度为 1 就一块接一块地做；深度大于块数也无妨。
    """
    trial.run([draw_chunk(rng, 33, pinned=True) for _ in range(5)], depth=depth)


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "pageable"])
@pytest.mark.parametrize(
    "dtype",
    [torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int64, torch.bool, torch.complex64],
    ids=lambda dtype: str(dtype).removeprefix("torch."),
)
def test_any_dtype(trial: Any, rng: Random, dtype: torch.dtype, pinned: bool) -> None:
    """Half types, integers, bool and complex numbers come back as they are.

    zh: 半精度、整数、bool 和复数都原样返回。
    """
    trial.run([draw_chunk(rng, 11, 3, dtype=dtype, pinned=pinned) for _ in range(4)])


LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "transposed": lambda chunk: chunk.t(),
    "every_second_row": lambda chunk: chunk[::2],
    "columns": lambda chunk: chunk[:, 1:3],
    "expanded": lambda chunk: chunk[:1].expand(9, -1),
    "offset": lambda chunk: chunk[3:],
    "scalar": lambda chunk: chunk[2, 1],
    "no_rows": lambda chunk: chunk[:0],
}


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "pageable"])
@pytest.mark.parametrize("layout", list(LAYOUTS))
def test_any_layout(trial: Any, rng: Random, layout: str, pinned: bool) -> None:
    """Views of all kinds, a scalar and an empty chunk come back right, and compute gets them contiguous.

    zh: 各种视图、标量、空块都能正确返回，compute 拿到的总是连续的。
    """
    trial.run([LAYOUTS[layout](draw_chunk(rng, 8, 5, pinned=pinned)) for _ in range(4)])


def change_in_place(x: Tensor) -> Tensor:
    """Change the argument and return it."""
    return x.add_(1)


def weigh(x: Tensor) -> Tensor:
    """Return something that autograd follows."""
    return x * torch.full((), 3.0, device=x.device, requires_grad=True)


MADE: dict[str, Arithmetic] = {
    "another_shape": lambda x: x.sum(1),
    "more_bytes": lambda x: torch.cat([x, x + 1, x + 2]),
    "another_dtype": lambda x: (x + 1).half(),
    "a_view": lambda x: (x + 1).t(),
    "its_argument": lambda x: x,
    "a_view_of_its_argument": lambda x: x[:, 1:3],
    "its_argument_changed_in_place": change_in_place,
    "something_with_a_graph": weigh,
    "nothing": lambda x: x[:0],
}


@pytest.mark.parametrize("made", list(MADE))
def test_any_result_of_compute(trial: Any, rng: Random, made: str) -> None:
    """Another shape or dtype, a view, the argument itself, a tensor with a graph: what compute returns counts.

    zh: 形状或 dtype 变了、返回视图、返回参数本身、返回带 autograd 图的张量：一切以 compute 的返回值为准。
    """
    trial.run([draw_chunk(rng, 6, 4, pinned=True) for _ in range(5)], MADE[made])


def test_chunks_may_differ_and_come_from_an_iterator(trial: Any, rng: Random) -> None:
    """Chunks are drawn from an iterator, and may differ in shape, dtype, strides and memory.

    zh: 块由迭代器逐个给出，形状、dtype、步长和所在的内存都可以各不相同。
    """
    dtypes = [torch.float32, torch.float16, torch.int32]
    chunks = [
        draw_chunk(rng, rng.randrange(1, 9), rng.randrange(1, 9), dtype=rng.choice(dtypes), pinned=number % 2 == 0)
        for number in range(9)
    ]
    chunks = [chunk.t() if number % 3 == 0 else chunk for number, chunk in enumerate(chunks)]

    def read() -> Iterator[Tensor]:
        yield from chunks

    trial.run(chunks, double, source=read())
