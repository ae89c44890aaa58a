"""The right bytes, whatever the batches are."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from support_batches import draw_tensor
from torch import Tensor


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_any_number_of_batches(consumer: Any, rng: Random, count: int) -> None:
    """No batch, one, or more: all arrive, in order, and the last one may be shorter.

    zh: 没有、一个、多个：全部按次序到达，最后一个可以更短。
    """
    columns = rng.randrange(3, 40)
    consumer.train([draw_tensor(rng, 8 if number < count - 1 else 3, columns) for number in range(count)])


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "pageable"])
def test_a_batch_may_be_a_dict(consumer: Any, rng: Random, pinned: bool) -> None:
    """A dict of tensors arrives as a new dict with the same keys, in their order.

    zh: 张量的 dict 到达时是新的 dict，键和次序都不变。
    """
    consumer.train(
        [
            {
                "tokens": draw_tensor(rng, rows, 5, dtype=torch.int64, pinned=pinned),
                "mask": draw_tensor(rng, rows, 5, dtype=torch.bool, pinned=not pinned),
                "length": draw_tensor(rng, rows, dtype=torch.int32, pinned=pinned),
            }
            for rows in (4, 4, 4, 1)
        ]
    )


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "pageable"])
@pytest.mark.parametrize(
    "dtype",
    [torch.float16, torch.bfloat16, torch.float64, torch.uint8, torch.complex64],
    ids=lambda dtype: str(dtype).removeprefix("torch."),
)
def test_any_dtype(consumer: Any, rng: Random, dtype: torch.dtype, pinned: bool) -> None:
    """Half types, integers and complex numbers arrive as they are.

    zh: 半精度、整数和复数都原样到达。
    """
    consumer.train([draw_tensor(rng, 11, 3, dtype=dtype, pinned=pinned) for _ in range(3)])


LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "transposed": lambda batch: batch.t(),
    "every_second_row": lambda batch: batch[::2],
    "expanded": lambda batch: batch[:1].expand(9, -1),
    "offset": lambda batch: batch[3:],
    "scalar": lambda batch: batch[2, 1],
    "no_rows": lambda batch: batch[:0],
}


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "pageable"])
@pytest.mark.parametrize("layout", list(LAYOUTS))
def test_any_layout(consumer: Any, rng: Random, layout: str, pinned: bool) -> None:
    """Views of all kinds, a scalar and an empty batch arrive right, and contiguous.

    zh: 各种视图、标量、空 batch 都正确到达，而且是连续的。
    """
    consumer.train([LAYOUTS[layout](draw_tensor(rng, 8, 5, pinned=pinned)) for _ in range(3)])


def test_batches_may_differ(consumer: Any, rng: Random) -> None:
    """Batches of one run may differ in shape, dtype, memory and form.

    zh: 同一次运行里，各个 batch 的形状、dtype、所在内存和形式都可以不同。
    """
    dtypes = [torch.float32, torch.float16, torch.int32]
    tensors = [
        draw_tensor(rng, rng.randrange(1, 9), rng.randrange(1, 9), dtype=rng.choice(dtypes), pinned=number % 2 == 0)
        for number in range(8)
    ]
    consumer.train([{"x": tensor} if number % 3 == 0 else tensor for number, tensor in enumerate(tensors)])


def test_a_second_epoch_begins_anew(solution: Any, expect: Any, evidence: Any, watch: Any, rng: Random) -> None:
    """Each loop over the same prefetcher hands out all batches of a list, also after a loop that was left early.

    zh: 对同一个预取器，每次循环都从头交出列表里的全部 batch，即使上一次中途离开。
    """
    batches = [draw_tensor(rng, 16) for _ in range(4)]
    loader = solution.Prefetcher(batches)
    results: list[Tensor] = []
    with watch() as seen:
        for _ in loader:
            break
        for _ in range(2):
            results.extend(batch + 1 for batch in loader)
    torch.cuda.synchronize()
    what = ("A later loop over the same prefetcher hands out other batches", "同一个预取器，后一次循环交出的内容不同")
    look = ("What of the first loop is still kept in self?", "self 里还留着上一次循环的什么？")
    expect.equal([result.cpu() for result in results], [batch + 1 for batch in batches * 2], what, look)
    expect.ordered(seen)
    evidence.exact("results", [result.tolist() for result in results])
