"""What summarise() returns for one chunk of keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
SHAPES = {
    "one_of_each": (1, 1, 1, 2),
    "one_key": (2, 3, 1, 4),
    "odd": (3, 5, 17, 6),
    "no_keys": (2, 3, 0, 4),
    "no_queries": (2, 0, 5, 4),
    "no_heads": (0, 3, 5, 4),
}


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_a_chunk_is_summarised(lab: Any, dtype: str) -> None:
    """Maximum, total and output of a chunk, in float32 whatever the inputs' type.

    zh: 一个分块的最大值、总和与输出；不论输入是什么类型，都用 float32。
    """
    task = lab.task(dim=32, dtype=DTYPES[dtype], scale=0.8)
    lab.check_partial(lab.summarise(task), task, "summarise()")
    lab.settle()


@pytest.mark.parametrize("case", list(SHAPES))
def test_chunks_of_any_size(lab: Any, case: str) -> None:
    """A single key, odd numbers, no queries, and no keys at all, which contribute nothing.

    zh: 一个键、奇数个、没有查询，以及一个键也没有（没有任何贡献）。
    """
    heads, queries, keys, dim = SHAPES[case]
    task = lab.task(heads, queries, keys, dim)
    lab.check_partial(lab.summarise(task), task, "summarise()")
    lab.settle()


def test_inputs_of_any_strides(lab: Any) -> None:
    """Queries, keys and values are slices of a fused tensor, with the heads behind the tokens.

    zh: 查询、键、值是融合张量的切片，head 排在 token 之后。
    """
    fused = lab.draw(7, 3, 2, 8)  # (tokens, q k v, heads, dim)
    task = lab.task(2, 7, 7, 8)
    task = replace(task, queries=fused[:, 0].transpose(0, 1), keys=fused[:, 1].transpose(0, 1))
    task = replace(task, values=fused[:, 2, :, :7].transpose(0, 1))
    lab.check_partial(lab.summarise(task), task, "summarise()")
    lab.settle()


@pytest.mark.parametrize("case", ["for_all_heads", "for_each_head"])
def test_masked_keys_do_not_count(lab: Any, case: str) -> None:
    """A mask for all heads, and one for each: where it is False, a key has no weight.

    zh: 掩码由所有 head 共用，或每个 head 一份：为 False 的地方，键没有权重。
    """
    task = lab.task()
    shape = (5, 23) if case == "for_all_heads" else (2, 5, 23)
    task = replace(task, mask=lab.mask(*shape))
    lab.check_partial(lab.summarise(task), task, "summarise()")
    lab.settle()


def test_a_row_may_have_no_key(lab: Any) -> None:
    """Rows whose keys are all masked: maximum -inf, total 0, output 0, and no NaN; the others are as ever.

    zh: 某些行的键全被掩码：最大值 -inf，总和 0，输出 0，没有 NaN；其他行照常。
    """
    task = lab.task()
    mask = lab.mask(2, 5, 23)
    mask[0, 1] = False
    mask[1] = False
    task = replace(task, mask=mask)
    lab.check_partial(lab.summarise(task), task, "summarise()")
    lab.settle()


@pytest.mark.parametrize("size", [90.0, -90.0, 3e4, -3e4])
def test_scores_may_be_extreme(lab: Any, size: float) -> None:
    """Scores around ±90 and ±30,000, whose exp() is infinite or 0 in float32.

    zh: 分数在 ±90、±30000 附近，它们的 exp() 在 float32 里是无穷大或 0。
    """
    task = lab.whole_task()
    task.queries[..., 0] = size
    task.keys[..., 0] = 1.0
    lab.check_partial(lab.summarise(task), task, "summarise()")
    lab.settle()
