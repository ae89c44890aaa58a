"""When a report comes, and what it says."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch
from support_steps import draw_step

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


@pytest.mark.parametrize(("flush_every", "count"), [(1, 3), (3, 7), (4, 8), (10, 3)], ids=str)
def test_reports_come_in_time(loop: Any, rng: Random, flush_every: int, count: int) -> None:
    """A report comes at each flush_every-th step, and flush() gives one of the steps since, if there are any.

    zh: 每 flush_every 步有一次报告；此后还有新的步，flush() 就再给一次。
    """
    loop.run(flush_every, [draw_step(rng, 6) for _ in range(count)])


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
def test_any_float_dtype(loop: Any, rng: Random, dtype: torch.dtype) -> None:
    """Losses and logits of any floating dtype give the figures of float64.

    zh: losses 和 logits 不论什么浮点 dtype，数值都与 float64 的一致。
    """
    loop.run(2, [draw_step(rng, 33, 17, dtype) for _ in range(4)])


def test_steps_of_different_sizes(loop: Any, rng: Random) -> None:
    """Steps of 1, 64 and 3 rows: each row weighs the same.

    zh: 各步分别有 1、64、3 行：每一行的分量都相同。
    """
    loop.run(3, [draw_step(rng, rows) for rows in (1, 64, 3)])


def test_a_flush_between_reports(loop: Any, rng: Random, expect: Any, device: str) -> None:
    """After a flush() the steps are counted anew up to the next report; the figures are not.

    zh: flush() 之后，到下一次报告的步数重新数起；数值不重新累计。
    """
    steps = [draw_step(rng, 4) for _ in range(5)]
    meter = loop.solution.RunningMetrics(3)
    reports = [meter.flush()]
    for number, step in enumerate(steps):
        reports.append(meter.update(*step.move(device)))
        if number == 1:
            reports.append(meter.flush())
    told = [None if report is None else (report.steps, report.samples) for report in reports]
    what = ("Steps and samples of what update() and flush() returned", "update() 和 flush() 所返回的步数与样本数")
    look = (
        "With flush_every = 3: flush, update, update, flush, update, update, update. The third update since the last "
        "report reports.",
        "flush_every = 3：flush，update，update，flush，update，update，update。从上次报告起第三次 update 才报告。",
    )
    expect.equal(told, [None, None, None, (2, 8), None, None, (5, 20)], what, look)
    loop.evidence.exact("reports", told)


@pytest.mark.parametrize("flush_every", [0, -1])
def test_flush_every_is_at_least_1(loop: Any, rng: Random, expect: Any, flush_every: int) -> None:
    """Less than 1 is a ValueError.

    zh: 小于 1 时抛 ValueError。
    """
    what = (f"RunningMetrics({flush_every}) was accepted", f"RunningMetrics({flush_every}) 被接受了")
    expect.raises(ValueError, lambda: loop.solution.RunningMetrics(flush_every), what)
    loop.run(1, [draw_step(rng, 2)])
