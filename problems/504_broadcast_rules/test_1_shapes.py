"""Which shapes fit together, what comes out, and how the operands are seen."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support_torch import Shape, draw_place, draw_shapes, tell_shape

FITTING: dict[str, list[Shape]] = {
    "one_operand": [(2, 3)],
    "equal": [(2, 3), (2, 3)],
    "missing_dimensions": [(2, 3, 4), (4,)],
    "shorter_first": [(4,), (2, 3, 4)],
    "ones": [(3, 1), (1, 4)],
    "a_vector_and_a_column": [(5,), (5, 1)],
    "a_number": [(2, 3), ()],
    "only_numbers": [(), ()],
    "nothing_beside_a_one": [(0,), (1,)],
    "a_one_beside_nothing": [(3, 1), (3, 0)],
    "nothing_above": [(0, 3), (3,)],
    "three": [(4, 1, 1), (3, 1), (2,)],
    "longest_last": [(), (1,), (2, 1, 1)],
}
MISFITS: dict[str, list[Shape]] = {
    "last": [(2, 3), (2, 4)],
    "a_row_taken_for_a_column": [(2, 3), (2,)],
    "a_row_taken_for_a_column_first": [(2,), (2, 3)],
    "first": [(4, 2, 3), (5, 2, 3)],
    "two_at_once": [(4, 2, 3), (5, 1, 2)],
    "shorter_first": [(3,), (4, 5, 2)],
    "nothing_and_two": [(0,), (2,)],
    "the_third": [(4, 1, 1), (3, 1), (2, 1)],
    "the_third_against_the_second": [(1,), (2, 3), (4,)],
    "the_second_of_three": [(3, 2), (3, 4), (7, 7, 7)],
}


@pytest.mark.parametrize("case", list(FITTING))
def test_what_fits(desk: Any, case: str) -> None:
    """Sizes are matched from the end, and a 1 or a missing one gives way.

    zh: 大小从末尾对齐，1 或缺的维让位。
    """
    desk.match(FITTING[case], tell_shape(FITTING[case]))
    desk.record()


@pytest.mark.parametrize("case", list(MISFITS))
def test_what_does_not_fit_in_pytorchs_words(desk: Any, case: str) -> None:
    """The ValueError says what PyTorch would say: which sizes, at which dimension.

    zh: ValueError 的内容与 PyTorch 一样：哪两个大小，在哪一维。
    """
    wanted = tell_shape(MISFITS[case])
    assert isinstance(wanted, str)
    desk.match(MISFITS[case], wanted)
    desk.record()


def test_random_shapes(desk: Any, rng: Any) -> None:
    """One to three operands of random shapes: PyTorch's shape, or its words.

    zh: 一到三个操作数，形状随机：与 PyTorch 的形状或措辞相同。
    """
    for _ in range(120):
        shapes = draw_shapes(rng, rng.randrange(1, 4))
        desk.match(shapes, tell_shape(shapes))
    desk.record()


def test_many_operands(desk: Any, rng: Any) -> None:
    """Seven operands are matched like three.

    zh: 七个操作数与三个一样。
    """
    for _ in range(20):
        shapes = draw_shapes(rng, 7, wrong=0)
        desk.match(shapes, tuple(torch.broadcast_tensors(*map(torch.empty, shapes))[0].shape))
    desk.record()


LOOK_VIEW = (
    "What is repeated has stride 0, whether it was a 1 or was missing; all else keeps its stride. Offset and storage "
    "stay: nothing is copied.",
    "重复的维步长为 0，不论它原来是 1 还是缺的；其余的步长不变。offset 和存储也不变：什么也没有拷贝。",
)


def test_operands_are_seen_through_stride_0(desk: Any, solution: Any, expect: Any, evidence: Any, rng: Any) -> None:
    """broadcast() gives the views of torch.broadcast_tensors(), and each stays in its own storage.

    zh: broadcast() 给出 torch.broadcast_tensors() 的视图，每个都留在自己的存储里。
    """
    rows = []
    while len(rows) < 40:
        places = [draw_place(rng) for _ in range(rng.randrange(1, 4))]
        if isinstance(tell_shape([place[0] for place in places]), str):
            continue
        layouts = [desk.layout(place, number + 3) for number, place in enumerate(places)]
        views = torch.broadcast_tensors(*(torch.empty(64).as_strided(*place) for place in places))
        answer = solution.broadcast(*layouts)
        what = (f"broadcast({layouts}) must return a list of Layouts", f"broadcast({layouts}) 应返回 Layout 的列表")
        is_list = type(answer) is list and all(type(layout) is solution.Layout for layout in answer)
        expect.true(is_list, what, expected="[Layout, …]", actual=answer)
        found = [(*_plain(one.shape, one.strides, one.offset), one.storage) for one in answer]
        wanted = [
            (*_plain(view.shape, view.stride(), view.storage_offset()), number + 3) for number, view in enumerate(views)
        ]
        what = (f"broadcast({layouts}) is wrong", f"broadcast({layouts}) 不对")
        expect.equal(found, wanted, what, LOOK_VIEW)
        rows.append([list(row) for row in found])
    evidence.exact("views", rows)


def test_broadcast_refuses_like_shapes(desk: Any, solution: Any, expect: Any) -> None:
    """broadcast() raises the ValueError of broadcast_shapes(), in the same words.

    zh: broadcast() 抛出与 broadcast_shapes() 相同的 ValueError，措辞也相同。
    """
    layouts = [desk.layout(((2, 3), (3, 1), 0)), desk.layout(((2,), (1,), 0))]
    error = expect.raises(ValueError, lambda: solution.broadcast(*layouts), ("No ValueError", "没有 ValueError"))
    wanted = tell_shape([(2, 3), (2,)])
    expect.equal(str(error), wanted, ("The words are not PyTorch's", "措辞与 PyTorch 不同"))
    desk.match([(2, 3), (2,)], wanted)
    desk.record()


def _plain(shape: Any, strides: Any, offset: int) -> tuple[Any, ...]:
    """Return a layout as plain data; ``-`` stands for a stride that is never used."""
    is_empty = 0 in shape
    used = ["-" if is_empty or size == 1 else stride for size, stride in zip(shape, strides, strict=True)]
    return list(shape), used, offset
