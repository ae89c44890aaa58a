"""View, reshape and flatten: which shapes are a matter of strides, and which need a copy."""

from __future__ import annotations

from typing import Any

import pytest
from support_layouts import draw_shape, draw_tensor, make_tensor

Layout = tuple[tuple[int, ...], tuple[int, ...]]

VIEWS: dict[str, tuple[Layout, list[int]]] = {
    "dense": (((2, 3, 4), (12, 4, 1)), [6, 2, 2]),
    "across_all_boundaries": (((4, 9), (9, 1)), [6, 6]),
    "rows_with_a_gap_split": (((4, 6), (10, 1)), [2, 2, 3, 2]),
    "rows_with_a_gap_made_one": (((4, 6), (10, 1)), [24]),
    "rows_with_a_gap_split_elsewhere": (((4, 6), (10, 1)), [8, 3]),
    "every_other": (((6,), (2,)), [2, 3]),
    "transposed": (((3, 4), (1, 3)), [12]),
    "transposed_split": (((3, 4), (1, 3)), [3, 2, 2]),
    "heads_behind_a_transpose": (((2, 5, 3, 4), (60, 4, 20, 1)), [2, 5, 12]),
    "heads_made_one": (((2, 5, 3, 4), (60, 12, 4, 1)), [2, 5, 12]),
    "one_head_behind_a_transpose": (((2, 1, 3, 4), (12, 4, 4, 1)), [2, 3, 4]),
    "a_one_with_an_odd_stride": (((2, 1, 3), (3, 999, 1)), [6]),
    "ones_put_in": (((2, 3), (5, 1)), [1, 2, 1, 3, 1]),
    "ones_left_out": (((1, 2, 1, 3, 1), (9, 5, 8, 1, 4)), [2, 3]),
    "only_ones": (((1, 1), (7, 5)), []),
    "no_dimension": (((), ()), [1, 1]),
    "expanded_inside": (((3, 4), (1, 0)), [3, 2, 2]),
    "expanded_outside": (((3, 4), (0, 1)), [12]),
    "expanded_twice": (((3, 4), (0, 0)), [6, 2]),
    "windows": (((4, 2), (2, 1)), [8]),
    "windows_that_overlap": (((4, 2), (1, 1)), [8]),
    "no_element": (((2, 0, 3), (17, 5, 9)), [0]),
    "no_element_more_dimensions": (((0,), (4,)), [3, 0, 5]),
}


@pytest.mark.parametrize("case", list(VIEWS))
def test_a_view_or_none(desk: Any, case: str) -> None:
    """view() gives PyTorch's strides, or None exactly where PyTorch says that there is no view.

    zh: view() 给出与 PyTorch 相同的步长；PyTorch 说没有视图时，恰好也给出 None。
    """
    layout, shape = VIEWS[case]
    for offset in (0, 5):
        desk.change("view", make_tensor(*layout, offset), shape)
    desk.record()


def test_views_of_random_layouts(desk: Any, rng: Any) -> None:
    """view() agrees with PyTorch about random shapes of random views.

    zh: 对随机视图的随机形状，view() 也与 PyTorch 一致。
    """
    for _ in range(300):
        tensor = draw_tensor(rng)
        desk.change("view", tensor, draw_shape(rng, tuple(tensor.shape)))
    desk.record()


@pytest.mark.parametrize("shape", [[-1], [-1, 6], [2, -1, 3], [4, 6, -1], [-1, 1]], ids=str)
def test_one_size_is_inferred(desk: Any, shape: list[int]) -> None:
    """A -1 becomes what is left of the elements, which may be 1; where there is no element, 0.

    zh: -1 变成元素个数剩下的因子，可以是 1；没有元素时是 0。
    """
    look = ("Elements divided by all other sizes.", "元素个数除以其余各维的大小。")
    desk.change("view", make_tensor((4, 6), (6, 1), 3), shape, look=look)
    desk.change("view", make_tensor((4, 0), (1, 1)), shape, look=look)
    desk.record()


REFUSED: dict[str, tuple[tuple[int, ...], list[int]]] = {
    "too_few_elements": ((4, 6), [4, 5]),
    "too_many_elements": ((4, 6), [5, 6]),
    "no_dimension_for_24": ((4, 6), []),
    "no_element_for_24": ((4, 6), [0, 24]),
    "does_not_divide": ((4, 6), [5, -1]),
    "two_unknown": ((4, 6), [-1, -1]),
    "negative": ((4, 6), [-2, -2, 6]),
    "elements_out_of_nothing": ((0, 6), [6]),
    "unknown_beside_0": ((0, 6), [0, -1]),
    "unknown_beside_0_of_24": ((4, 6), [0, -1]),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_is_no_shape_is_refused(desk: Any, case: str) -> None:
    """A shape that no copy could have either is a ValueError, from view() and from reshape().

    zh: 连拷贝也做不到的形状，view() 和 reshape() 都抛 ValueError。
    """
    shape, wanted = REFUSED[case]
    for strides in ((shape[1], 1), (1, shape[0])):
        desk.refuse("view", desk.layout(shape, strides), wanted, error=ValueError)
        desk.refuse("reshape", desk.layout(shape, strides), wanted, error=ValueError)
    desk.record()


@pytest.mark.parametrize("case", list(VIEWS))
def test_reshape_copies_only_where_it_must(desk: Any, case: str) -> None:
    """reshape() is the view where there is one; else contiguous, at offset 0, and a copy.

    zh: reshape() 有视图就是视图；否则是连续的拷贝，offset 为 0。
    """
    layout, shape = VIEWS[case]
    desk.change("reshape", make_tensor(*layout, 5), shape)
    desk.record()


def test_flatten_copies_at_times(desk: Any, rng: Any) -> None:
    """flatten() of random dimensions of random views: the layout, and whether it copied.

    zh: 对随机视图的随机几维做 flatten()：布局，以及有没有拷贝。
    """
    for _ in range(120):
        tensor = draw_tensor(rng)
        count = max(tensor.dim(), 1)
        start = rng.randrange(count)
        end = rng.randrange(start, count)
        desk.change("flatten", tensor, start - count * rng.randrange(2), end - count * rng.randrange(2))
    desk.record()


def test_flatten_by_default_takes_all(desk: Any) -> None:
    """flatten() without dimensions makes one of all; a layout without dimensions gets one of size 1.

    zh: 不给维数的 flatten() 把所有维并成一维；没有维的布局得到一个大小为 1 的维。
    """
    for shape, strides in [((2, 3), (3, 1)), ((2, 3), (1, 2)), ((), ()), ((2, 0), (1, 1)), ((5,), (3,))]:
        desk.change("flatten", make_tensor(shape, strides, 4))
    desk.change("flatten", make_tensor((2, 3, 4), (24, 4, 1), 4), 1)
    desk.refuse("flatten", desk.layout((2, 3, 4), (12, 4, 1)), 2, 1, error=ValueError)
    desk.refuse("flatten", desk.layout((2, 3, 4), (12, 4, 1)), 0, 3, error=IndexError)
    desk.refuse("flatten", desk.layout((2, 3, 4), (12, 4, 1)), -4, 1, error=IndexError)
    desk.record()


def test_numbers_are_enough(desk: Any, expect: Any) -> None:
    """A layout of 10^21 elements takes no longer than one of ten: nothing is listed, and no tensor is made.

    zh: 10^21 个元素的布局与十个元素的一样快：既不逐个列举，也不创建张量。
    """
    rows, columns = 10**12, 10**9
    whole = {"shape": [rows * columns], "strides": [1], "offset": 7}
    dense = desk.layout((rows, columns), (columns, 1), 7)
    gaps = desk.layout((rows, columns), (2 * columns, 1), 7)
    look = ("Sizes and strides are all that is needed.", "只需要大小和步长。")
    try:
        desk.ask("is_contiguous", dense, wanted=True, look=look)
        desk.ask("is_contiguous", gaps, wanted=False, look=look)
        desk.ask("storage_size", gaps, wanted=(2 * rows - 1) * columns + 7, look=look)
        desk.ask("view", gaps, [-1], wanted=None, look=look)
        desk.ask("view", dense, [-1], wanted=whole, look=look)
        desk.ask("flatten", dense, wanted={**whole, "is_copy": False}, look=look)
    except (MemoryError, OverflowError, RuntimeError) as error:
        if isinstance(error, NotImplementedError):
            raise
        what = ("The size of a layout is a matter of numbers only", "布局的大小只是数字问题")
        expect.fail(what, "an answer", f"{type(error).__name__}: {error}"[:200], look)
    desk.record()
