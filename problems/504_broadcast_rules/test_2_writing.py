"""Where a result may be written: in place, or through out=."""

from __future__ import annotations

from typing import Any

import pytest
from support_torch import Place, draw_place, tell_inplace, tell_out

COLUMN: Place = ((3, 1), (1, 1), 0)
TABLE: Place = ((3, 4), (4, 1), 0)
ROW: Place = ((4,), (1,), 0)
SQUARE: Place = ((4, 4), (4, 1), 0)

CASES: dict[str, list[tuple[Place, int]]] = {
    "equal_shapes": [(TABLE, 0), (TABLE, 1)],
    "a_row_into_a_table": [(TABLE, 0), (ROW, 1)],
    "a_table_into_a_row": [(ROW, 0), (TABLE, 1)],
    "a_table_into_a_column": [(COLUMN, 0), (TABLE, 1)],
    "one_dimension_more": [(TABLE, 0), (((1, 3, 4), (12, 4, 1), 0), 1)],
    "nothing_into_a_one": [(((1,), (1,), 0), 0), (((0,), (1,), 0), 1)],
    "does_not_fit": [(TABLE, 0), (((3,), (1,), 0), 1)],
    "into_an_expanded_row": [(((3, 4), (0, 1), 0), 0), (TABLE, 1)],
    "into_an_expanded_row_that_does_not_fit": [(((3, 4), (0, 1), 0), 0), (((3,), (1,), 0), 1)],
    "into_stride_0_of_a_one": [(((1, 4), (0, 1), 0), 0), (ROW, 1)],
    "into_stride_0_of_a_one_with_gaps": [(((3, 1), (2, 0), 0), 0), (((3, 1), (1, 1), 0), 1)],
    "into_an_expanded_nothing": [(((0, 4), (1, 0), 0), 0), (ROW, 1)],
    "into_windows": [(((3, 2), (1, 1), 0), 0), (((2,), (1,), 0), 1)],
    "from_an_expanded_row": [(TABLE, 0), (((3, 4), (0, 1), 0), 1)],
    "the_same": [(TABLE, 0), (TABLE, 0)],
    "the_same_with_gaps": [(((3, 2), (4, 2), 0), 0), (((3, 2), (4, 2), 0), 0)],
    "its_own_transpose": [(SQUARE, 0), (((4, 4), (1, 4), 0), 0)],
    "its_own_first_row": [(TABLE, 0), (ROW, 0)],
    "its_own_first_column": [(TABLE, 0), (((3, 1), (4, 1), 0), 0)],
    "one_row_further": [(((2, 4), (4, 1), 4), 0), (((2, 4), (4, 1), 0), 0)],
    "the_other_half": [(((2, 4), (4, 1), 0), 0), (((2, 4), (4, 1), 8), 0)],
    "one_column_further": [(((3, 3), (4, 1), 1), 0), (((3, 3), (4, 1), 0), 0)],
    "another_storage_same_offset": [(((2, 4), (4, 1), 4), 0), (((2, 4), (4, 1), 0), 1)],
    "the_same_row_as_a_table": [(((1, 4), (4, 1), 0), 0), (ROW, 0)],
    "its_own_first_rows": [(TABLE, 0), (((1, 4), (4, 1), 0), 0)],
    "dense_but_for_the_stride_of_a_one": [(((1, 4), (9, 1), 0), 0), (((4,), (1,), 1), 0)],
    "nothing_in_the_middle": [(((0, 4), (4, 1), 4), 0), (((4,), (1,), 2), 0)],
    "a_column_as_a_row": [(((1, 4), (1, 1), 0), 0), (((4, 1), (1, 1), 0), 0)],
    "overlap_and_shape": [(ROW, 0), (TABLE, 0)],
    "the_second_operand_overlaps": [(((2, 4), (4, 1), 4), 0), (ROW, 1), (((2, 4), (4, 1), 0), 0)],
    "the_second_operand_is_larger": [(ROW, 0), (ROW, 1), (TABLE, 2)],
}


@pytest.mark.parametrize("case", list(CASES))
def test_in_place(desk: Any, case: str) -> None:
    """check_inplace() agrees with add_() and addcmul_().

    zh: check_inplace() 与 add_()、addcmul_() 一致。
    """
    desk.write("check_inplace", CASES[case], tell_inplace(CASES[case]))
    desk.record()


@pytest.mark.parametrize("case", list(CASES))
def test_out(desk: Any, case: str) -> None:
    """check_out() agrees with torch.neg, add and addcmul with out=.

    zh: check_out() 与带 out= 的 torch.neg、add、addcmul 一致。
    """
    out, *operands = CASES[case]
    for places in ([out, *operands], [out, *operands, (ROW, 9)]):
        desk.write("check_out", places, tell_out(places))
    desk.record()


def test_random_writing(desk: Any, rng: Any) -> None:
    """Random layouts, most of them in one storage: the verdicts are PyTorch's.

    zh: 随机的布局，多数在同一块存储里：判断与 PyTorch 相同。
    """
    for _ in range(100):
        places = [(draw_place(rng), rng.choice((0, 0, 0, 1))) for _ in range(rng.choice((2, 2, 3)))]
        desk.write("check_inplace", places, tell_inplace(places))
        desk.write("check_out", places, tell_out(places))
    desk.record()
