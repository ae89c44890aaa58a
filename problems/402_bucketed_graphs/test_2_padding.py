"""Rows that the batch does not fill: zeros, whatever an earlier call has left there."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from conftest import LOOK_PADDING
from support_model import Noting, read
from torch import Tensor

LEFT_BEHIND = {
    "same_graph": [4, 3],
    "smaller_graph": [8, 3],
    "two_calls_ago": [8, 2, 7],
    "after_eager": [4, 9, 3],
}
"""Rows of calls with large values; the last has small ones, and must not see the others."""


@pytest.mark.weight(2)
def test_the_model_sees_zeros_behind_the_batch(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    rng: Random,
    device: str,
    evidence: Any,
    expect: Any,
) -> None:
    """Whatever graph is replayed: its first rows are the batch, all others are zeros.

    zh: 不论重放哪个图：前几行是这个批，其余的行全是零。
    """
    model = Noting(rng, device, most=8)
    service = serve([2, 5, 8], model)
    seen, labels = [], []
    for count in (8, 3, 5, 1, 7, 0, 6, 2, 4):
        x = rows(count)
        service.call(x)
        given = int(model.rows.item())
        expected = read(x) + [[0.0] * len(row) for row in read(model.seen[count:given])]
        for number, (row, wanted) in enumerate(zip(read(model.seen[:given]), expected, strict=True)):
            what = (
                f"a batch of {count}: the model saw a wrong row {number}, of {given}",
                f"批为 {count} 行：模型看到的第 {number} 行（共 {given} 行）不对",
            )
            expect.equal(row, wanted, what, LOOK_PADDING)
        seen.append(read(model.seen[:given]))
        labels.append(f"rows that the model saw, a batch of {count}")
    evidence.exact("seen", seen, labels=labels)


@pytest.mark.weight(2)
@pytest.mark.parametrize("case", list(LEFT_BEHIND))
def test_rows_of_an_earlier_call_are_gone(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, case: str
) -> None:
    """A model that looks across the whole batch sees nothing of an earlier call.

    zh: 会跨行看整个批的模型，看不到之前调用留下的任何东西。
    """
    service = serve([1, 2, 4, 8])
    *earlier, last = LEFT_BEHIND[case]
    for count in earlier:
        service.serve(rows(count), f"a call of {count} rows, values up to 3")
    told = ", ".join(map(str, earlier))
    service.serve(rows(last, largest=1), f"a call of {last} rows, values up to 1, after calls of {told} rows")
    service.record(evidence)


@pytest.mark.parametrize("value", [float("nan"), float("inf")], ids=["nan", "inf"])
def test_a_nan_of_an_earlier_call_is_gone(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, value: float
) -> None:
    """A request that has gone bad spoils its own batch, and no later one.

    zh: 一个坏掉的请求只毁掉自己所在的批，不影响之后的批。
    """
    service = serve([4, 8])
    bad = rows(8)
    bad[2:].fill_(value)
    service.call(bad)
    for count in (3, 1, 7):
        service.serve(rows(count), f"{count} rows, after a call whose rows 2 to 7 were {value}")
    service.record(evidence)
