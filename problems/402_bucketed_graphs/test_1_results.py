"""What a call returns: the model's own result for the rows of the batch, whatever their number."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from support_model import WIDTH, draw, read
from torch import Tensor

HALF = [torch.float32, torch.float16, torch.bfloat16]
ORDERS = {
    "ascending": [1, 2, 4, 8],
    "mixed": [4, 1, 8, 2],
    "without_1": [3, 7],
    "one_size": [5],
}


@pytest.mark.weight(3)
@pytest.mark.parametrize("dtype", HALF, ids=["float32", "float16", "bfloat16"])
def test_every_size_gives_what_the_model_gives(
    serve: Callable[..., Any], rows: Callable[..., Tensor], rng: Random, evidence: Any, dtype: torch.dtype
) -> None:
    """From no row to three rows beyond the largest graph, in any order: as many rows as the batch has, and its values.

    zh: 从零行到比最大的图还多三行，次序任意：返回的行数与批相同，值也正确。
    """
    service = serve([1, 2, 4, 8], example=rows(1, dtype))
    counts = list(range(12))
    rng.shuffle(counts)
    for number, count in enumerate(counts, 1):
        service.serve(rows(count, dtype, rng.randint(1, 3)), f"call {number}, {count} rows, graphs for 1, 2, 4, 8")
    service.record(evidence)


@pytest.mark.parametrize("order", list(ORDERS))
def test_sizes_come_in_any_order(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, expect: Any, order: str
) -> None:
    """Sizes may come in any order, one may be enough, and the caller's list stays as it is.

    zh: 大小的次序任意，只有一个也行；调用者的列表保持不变。
    """
    sizes = list(ORDERS[order])
    service = serve(sizes)
    what = ("the caller's list of sizes was changed", "调用者的大小列表被改动了")
    expect.equal(sizes, ORDERS[order], what, ("sort() works in place.", "sort() 是原地排序。"))
    for count in range(1, max(sizes) + 2):
        service.serve(rows(count), f"{count} rows, graphs for {sizes}")
    service.record(evidence)


def test_sizes_may_be_an_iterator(serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any) -> None:
    """Sizes may come from an iterator, which can be read once only.

    zh: 大小可以来自迭代器，而迭代器只能读一遍。
    """
    service = serve(iter([2, 4]))
    for count in (1, 4, 3, 5):
        service.serve(rows(count), f"{count} rows, graphs for an iterator of 2 and 4")
    service.record(evidence)


@pytest.mark.parametrize("count", [0, 9], ids=["0_rows", "9_rows"])
def test_the_example_may_have_any_rows(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, count: int
) -> None:
    """The example shows what a row is like; how many it has means nothing.

    zh: 示例只说明一行的样子；它有几行无关紧要。
    """
    service = serve([2, 4], example=rows(count))
    for rows_now in (3, 2, 5):
        service.serve(rows(rows_now), f"{rows_now} rows, example of {count}")
    service.record(evidence)


def test_a_row_may_be_a_token_id(solution: ModuleType, rng: Random, device: str, evidence: Any, expect: Any) -> None:
    """A row may be one number, such as a token's id, and the result of another dtype and shape.

    zh: 一行可以只是一个数，例如 token 的编号；结果的 dtype 和形状可以不同。
    """
    table = draw(rng, (16, WIDTH), device)
    runner = solution.BucketedRunner(lambda ids: table[ids], torch.zeros(1, dtype=torch.int64, device=device), [2, 4])
    outputs, labels = [], []
    for count in (4, 1, 0, 3, 5):
        ids = torch.tensor([rng.randrange(16) for _ in range(count)], dtype=torch.int64, device=device)
        y = expect.tensor(runner(ids), f"runner(ids), {count} ids", dtype=table.dtype, shape=(count, WIDTH))
        what = (f"{count} ids: the result is wrong", f"{count} 个编号：结果不对")
        expect.equal(read(y), read(table[ids]), what)
        outputs.append(read(y))
        labels.append(f"{count} ids")
    evidence.exact("outputs", outputs, labels=labels)


@pytest.mark.parametrize("layout", ["transposed", "every_second_row", "one_row_expanded"])
def test_a_batch_may_have_any_strides(
    serve: Callable[..., Any], rows: Callable[..., Tensor], rng: Random, device: str, evidence: Any, layout: str
) -> None:
    """A view with any strides is a good batch.

    zh: 任何步长的视图都可以作为一个批。
    """
    base = draw(rng, (16, 16), device)
    views = {
        "transposed": base[:WIDTH, :3].t(),
        "every_second_row": base[1:7:2, 4:12],
        "one_row_expanded": base[3, :WIDTH].expand(3, WIDTH),
    }
    service = serve([2, 4])
    service.serve(views[layout], f"3 rows, {layout}, strides {views[layout].stride()}")
    service.serve(rows(4), "4 rows afterwards")
    service.record(evidence)
