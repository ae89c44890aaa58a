"""Whose memory is what: batches and results are the caller's, all else is the runner's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from torch import Tensor

NEXT = {"same_graph": 4, "larger_graph": 7, "smaller_graph": 2, "eager": 10}


@pytest.mark.weight(2)
@pytest.mark.parametrize("case", list(NEXT))
def test_a_result_survives_the_next_call(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, case: str
) -> None:
    """A result stays as it is when the next call comes, of the same graph or of another one of the pool.

    zh: 下一次调用到来时结果保持不变，不论它用的是同一个图，还是同一个池里的另一个图。
    """
    service = serve([2, 4, 8])
    first = service.serve(rows(4), "a call of 4 rows")
    second = service.serve(rows(NEXT[case]), f"a call of {NEXT[case]} rows")
    what = (
        f"the result of a call changed when a call of {NEXT[case]} rows followed",
        f"又来了一次 {NEXT[case]} 行的调用，前一次的结果就变了",
    )
    service.check_still(first, 0, what)
    first.fill_(99)
    service.check_still(second, 1, ("two results share memory", "两个结果共用了内存"))
    service.serve(rows(4), "a call of 4 rows, after the caller has overwritten a result")
    service.record(evidence)


def test_the_callers_batch_stays_as_it_is(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, expect: Any
) -> None:
    """Neither building nor calling writes into the example or the batch; one buffer may bring every batch.

    zh: 构造和调用都不会写示例或批；调用者可以一直用同一个缓冲区。
    """
    example, buffer = rows(8), rows(8)
    with expect.unchanged(example=example, x=buffer):
        service = serve([4, 8], example=example)
        service.serve(buffer[:3], "3 rows of a buffer")
    example.fill_(9)
    for count in (5, 8, 2):
        buffer.copy_(rows(8))
        service.serve(buffer[:count], f"{count} rows of the same buffer, refilled")
    service.record(evidence)


def test_runners_do_not_meet(serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any) -> None:
    """Two runners work side by side, and one goes on when the other dies.

    zh: 两个运行器并存；一个消亡，另一个照常工作。
    """
    look = (
        "What do two runners share: an attribute of the class, a global, a default argument?",
        "两个运行器共用了什么：类属性、全局变量，还是默认参数？",
    )
    one, other = serve([2, 4]), serve([3, 4])
    kept = one.serve(rows(4), "one runner, 4 rows", look)
    other.serve(rows(2), "another runner, 2 rows", look)
    one.check_still(kept, 0, ("a call of another runner changed a result", "另一个运行器的调用改变了结果"), look)
    one.serve(rows(3), "one runner, 3 rows", look)
    one.runner = None
    other.serve(rows(3), "another runner, after the first one has died", look)
    one.check_still(kept, 0, ("a result did not survive its runner", "运行器消亡后，它给出的结果变了"), look)
    for name, service in (("one", one), ("other", other)):
        evidence.exact(name, service.outputs, labels=service.labels)
