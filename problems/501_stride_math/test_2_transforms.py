"""Permute, transpose, expand, narrow: sizes, strides and an offset change, no element moves."""

from __future__ import annotations

from typing import Any

import pytest
from support_layouts import draw_tensor, make_tensor


def test_permute_as_pytorch_does(desk: Any, rng: Any) -> None:
    """permute() gives PyTorch's layout, with negative dimensions too.

    zh: permute() 的布局与 PyTorch 相同，维数为负也一样。
    """
    desk.change("permute", make_tensor((2, 3, 4), (12, 4, 1), 5), [2, 0, 1])
    desk.change("permute", make_tensor((), (), 5), [])
    for _ in range(60):
        tensor = draw_tensor(rng)
        dims = rng.sample(range(tensor.dim()), tensor.dim())
        desk.change("permute", tensor, [dim - tensor.dim() * rng.randrange(2) for dim in dims])
    desk.record()


def test_transpose_as_pytorch_does(desk: Any, rng: Any) -> None:
    """transpose() gives PyTorch's layout; a dimension may change places with itself.

    zh: transpose() 的布局与 PyTorch 相同；一个维也可以与自己互换。
    """
    tensor = make_tensor((2, 3, 4), (12, 4, 1), 1)
    for first, second in [(0, 1), (1, 0), (-1, 0), (2, -1), (-3, -2)]:
        desk.change("transpose", tensor, first, second)
    for _ in range(40):
        tensor = draw_tensor(rng).unsqueeze(0)
        count = tensor.dim()
        desk.change("transpose", tensor, rng.randrange(-count, count), rng.randrange(-count, count))
    desk.record()


EXPANDED: dict[str, tuple[tuple[int, ...], list[int]]] = {
    "a_one": ((3, 1), [3, 4]),
    "to_0": ((1,), [0]),
    "a_new_one": ((3,), [2, 3]),
    "a_new_nothing": ((3,), [0, 3]),
    "new_and_kept": ((3, 1), [2, -1, 5]),
    "only_new_ones": ((), [4, 2]),
    "a_one_kept": ((1, 3), [-1, 3]),
    "no_element": ((0, 1), [0, 2]),
}


@pytest.mark.parametrize("case", list(EXPANDED))
def test_expand_repeats_with_stride_0(desk: Any, case: str) -> None:
    """expand() of sizes 1, of new dimensions, to size 0, and with -1.

    zh: expand()：大小为 1 的维、新的维、扩成 0、以及 -1。
    """
    shape, wanted = EXPANDED[case]
    strides = tuple(10 ** (len(shape) - at) for at in range(len(shape)))
    desk.change("expand", make_tensor(shape, strides, 2), wanted)
    desk.record()


def test_expand_as_pytorch_does(desk: Any, rng: Any) -> None:
    """expand() gives PyTorch's layout for random views.

    zh: 对随机的视图，expand() 的布局与 PyTorch 相同。
    """
    for _ in range(60):
        tensor = draw_tensor(rng)
        sizes = [rng.choice((1, 2, 3)) for _ in range(rng.randrange(3))]
        sizes += [rng.choice((1, 3, -1)) if size == 1 else rng.choice((size, -1)) for size in tensor.shape]
        desk.change("expand", tensor, sizes)
    desk.record()


def test_narrow_as_pytorch_does(desk: Any, rng: Any) -> None:
    """narrow() moves the offset by start steps; also to length 0, and up to the end.

    zh: narrow() 让 offset 移动 start 步；长度为 0、一直取到末尾也一样。
    """
    for start, length in [(0, 3), (1, 2), (2, 1), (3, 0), (0, 0)]:
        desk.change("narrow", make_tensor((4, 3), (1, 6), 2), 1, start, length)
    for _ in range(60):
        tensor = draw_tensor(rng).unsqueeze(0)
        dim = rng.randrange(tensor.dim())
        start = rng.randrange(tensor.shape[dim] + 1)
        length = rng.randrange(tensor.shape[dim] - start + 1)
        desk.change("narrow", tensor, dim - tensor.dim() * rng.randrange(2), start, length)
    desk.record()


def test_views_of_views(desk: Any, rng: Any) -> None:
    """The result of one function is the input of the next, and the offset is never lost.

    zh: 一个函数的结果是下一个的输入，offset 始终不丢。
    """
    for _ in range(20):
        tensor = make_tensor((3, 4, 1, 5), (40, 7, 3, 1), rng.randrange(9))
        tensor = desk.change("narrow", tensor, rng.randrange(2), 1, 2)
        tensor = desk.change("transpose", tensor, 0, rng.randrange(1, 4))
        tensor = desk.change("expand", tensor, [2, -1, -1, -1, -1])
        tensor = desk.change("permute", tensor, rng.sample(range(5), 5))
        desk.change("narrow", tensor, -1, 0, 1)
    desk.record()


REFUSED: dict[str, tuple[str, list[Any], type[Exception]]] = {
    "permute_out_of_range": ("permute", [[0, 2, 1, 3]], IndexError),
    "permute_twice": ("permute", [[0, 0, 1]], ValueError),
    "permute_twice_by_two_names": ("permute", [[0, 1, -3]], ValueError),
    "permute_too_few": ("permute", [[0, 1]], ValueError),
    "transpose_out_of_range": ("transpose", [0, 3], IndexError),
    "transpose_below_the_range": ("transpose", [-4, 0], IndexError),
    "expand_too_few": ("expand", [[3, 4]], ValueError),
    "expand_a_size": ("expand", [[2, 6, 4]], ValueError),
    "expand_a_size_to_1": ("expand", [[2, 1, 4]], ValueError),
    "expand_a_new_one_by_minus_1": ("expand", [[-1, 2, 3, 4]], ValueError),
    "expand_to_a_negative_size": ("expand", [[-2, 3, 4]], ValueError),
    "narrow_out_of_range": ("narrow", [3, 0, 1], IndexError),
    "narrow_beyond_the_end": ("narrow", [1, 2, 2], ValueError),
    "narrow_before_the_start": ("narrow", [1, -1, 1], ValueError),
    "narrow_to_a_negative_length": ("narrow", [1, 1, -1], ValueError),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_does_not_fit_is_refused(desk: Any, case: str) -> None:
    """A dimension out of range is an IndexError, all else that does not fit a ValueError.

    zh: 维超出范围抛 IndexError，其余不合适的抛 ValueError。
    """
    name, arguments, error = REFUSED[case]
    size = 1 if case == "expand_to_a_negative_size" else 2
    desk.refuse(name, desk.layout((size, 3, 4), (12, 4, 1), 1), *arguments, error=error)
    desk.record()
