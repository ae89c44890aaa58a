"""What finish() and attend() return."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def attend(lab: Any, task: Any, chunk: int) -> None:
    """Attend, and compare with the truth; inputs must stay as they are."""
    __tracebackhide__ = True
    with lab.expect.unchanged(queries=task.queries, keys=task.keys, values=task.values):
        answer = lab.solution.attend(
            task.queries, task.keys, task.values, scale=task.scale, chunk=chunk, mask=task.mask
        )
    count = task.keys.shape[1]
    try:
        lab.check_answer(answer, task, f"attend(chunk={chunk})")
    except AssertionError:
        if count % chunk and is_truth(answer, task.cut(0, count - count % chunk)):
            what = (
                f"attend(chunk={chunk}) does not count the last {count % chunk} of {count} keys",
                f"attend(chunk={chunk}) 没有算上 {count} 个键中的最后 {count % chunk} 个",
            )
            look = (
                "The last chunk need not be full: where do the slices end?",
                "最后一块不一定是满的：切片切到了哪里？",
            )
            lab.expect.fail(what, look=look)
        raise


def is_truth(answer: Any, task: Any) -> bool:
    """Tell whether an answer is that of a task, as far as its log-sum-exp tells."""
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], torch.Tensor):
        return False
    maximum, total, _ = task.find_truth()
    return answer[1].shape == total.shape and torch.allclose(
        answer[1].cpu().double(), maximum + total.log(), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_a_partial_is_finished(lab: Any, dtype: str) -> None:
    """The output is divided once and has the type asked for; rows without a key are 0 and -inf; the partial stays.

    zh: 输出只除一次，类型如所要求；没有可见键的行是 0 和 -inf；partial 保持原样。
    """
    task = lab.task(dtype=DTYPES[dtype])
    mask = lab.mask(2, 5, 23)
    mask[1, 3] = False
    task = replace(task, mask=mask)
    made = lab.summarise(task)
    with lab.expect.unchanged(maximum=made.maximum, total=made.total, output=made.output):
        answer = lab.solution.finish(made, DTYPES[dtype])
    lab.check_answer(answer, task, "finish()")
    lab.settle(1e-2)


@pytest.mark.parametrize("chunk", [1, 7, 20, 23, 100])
def test_chunks_of_any_length(lab: Any, chunk: int) -> None:
    """23 keys in chunks of one, in ragged ones, in a single one.

    zh: 23 个键：每块一个，最后一块不满，或者整个一块。
    """
    attend(lab, lab.task(), chunk)
    lab.settle()


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_all_types(lab: Any, dtype: str) -> None:
    """Scores of some ±20 from half types: as exact as float32 allows, then rounded once.

    zh: 半精度输入，分数约 ±20：精确到 float32 所能达到的程度，最后只舍入一次。
    """
    attend(lab, lab.task(keys=150, dim=64, dtype=DTYPES[dtype], scale=1.0), 32)
    lab.settle(1e-2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_many_keys_of_the_same_score(lab: Any, dtype: str) -> None:
    """3,000 equal keys: sums that a half type can't hold; 2048 + 1 is 2048 in float16, 256 + 1 is 256 in bfloat16.

    zh: 3000 个相同的键：这样的和半精度装不下，因为 float16 里 2048 + 1 还是 2048，bfloat16 里 256 + 1 还是 256。
    """
    task = lab.task(heads=1, queries=2, keys=3000, dim=4, dtype=DTYPES[dtype])
    task.keys.fill_(0.0)
    task.values.fill_(1.0)
    task.values[:, ::2, 0] = 0.0
    attend(lab, task, 333)
    lab.settle(1e-2)


@pytest.mark.parametrize("chunk", [1, 3])
def test_a_causal_mask(lab: Any, chunk: int) -> None:
    """Each query attends to a window that ends at itself: most chunks are masked for it, the first ones too.

    zh: 每个查询只看以自己为末尾的一个窗口：大多数分块对它是全掩码的，最前面的也是。
    """
    position = torch.arange(19)
    distance = (position.unsqueeze(1) - position).to(lab.draw(1).device)
    task = replace(lab.task(queries=19, keys=19), mask=(distance >= 0) & (distance < 4))
    attend(lab, task, chunk)
    lab.settle()


def test_rows_without_any_key(lab: Any) -> None:
    """Padding rows, whose mask is False throughout: 0 and -inf, neither NaN nor the mean of the values.

    zh: 填充行的掩码全为 False：得到 0 和 -inf，既不是 NaN，也不是值的平均。
    """
    mask = lab.mask(5, 23)
    mask[::2] = False
    attend(lab, replace(lab.task(), mask=mask), 6)
    lab.settle()


@pytest.mark.parametrize("rising", [True, False], ids=["rising", "falling"])
def test_the_largest_score_comes_late_or_early(lab: Any, rising: bool) -> None:
    """Scores that rise, or fall, by 200 a chunk, over thousands.

    zh: 分数每块上升（或下降）200，一共变化几千。
    """
    task = lab.whole_task(64)
    task.queries[..., 0] = 1.0
    steps = torch.arange(64.0).sub(40) * 50
    task.keys[..., 0] = steps if rising else steps.flip(0)
    attend(lab, task, 4)
    lab.settle()


def test_nothing_to_attend_to(lab: Any, expect: Any) -> None:
    """No keys at all: 0 and -inf. A chunk of 0 keys or fewer: ValueError.

    zh: 一个键也没有：0 和 -inf。分块为 0 个键或更少：抛出 ValueError。
    """
    attend(lab, lab.task(keys=0), 4)
    task = lab.task()
    for chunk in (0, -1):
        call = partial(lab.solution.attend, task.queries, task.keys, task.values, scale=1.0, chunk=chunk)
        expect.raises(ValueError, call, (f"chunk={chunk} was accepted", f"chunk={chunk} 被接受了"))
    lab.settle()
