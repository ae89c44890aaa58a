"""Rows that make trouble: none at all, such that don't count, such that hold what can't be summed."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest
import torch
from support_steps import IGNORED, Step, draw_step


def test_empty_batches(loop: Any, rng: Random) -> None:
    """Steps without rows, first, between and last, are steps.

    zh: 最先、中间、最后，没有行的步也是步。
    """
    loop.run(2, [draw_step(rng, rows) for rows in (0, 5, 0, 0, 3, 0)])


def test_no_rows_at_all(loop: Any, rng: Random) -> None:
    """Where no row counts, loss and accuracy are NaN, and the largest confidence is 0.

    zh: 没有一行算数时，loss 和 accuracy 是 NaN，最大置信度是 0。
    """
    loop.run(2, [draw_step(rng, 0), draw_step(rng, 3, ignored=1.0), draw_step(rng, 2)])


def test_ignored_rows_do_not_count(loop: Any, rng: Random) -> None:
    """Rows with the label -100 have no share in any figure.

    zh: 标签是 -100 的行不进入任何数值。
    """
    steps = [draw_step(rng, 20, ignored=0.5) for _ in range(4)]
    for step in steps:
        step.logits[step.labels == IGNORED] *= 40  # far surer than any other
        step.losses[step.labels == IGNORED] += 100
    loop.run(3, steps)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=str)
def test_ignored_rows_may_hold_anything(loop: Any, rng: Random, value: float) -> None:
    """What a padded row holds was never computed: NaN or infinity in it harms nothing.

    zh: 填充行里的内容不曾计算过：有 NaN 或无穷大也不碍事。
    """
    steps = [draw_step(rng, 12, ignored=0.4) for _ in range(2)]
    for step in steps:
        step.labels[0] = IGNORED
        step.logits[step.labels == IGNORED] = value
        step.losses[step.labels == IGNORED] = value
    loop.run(2, steps)


def test_masked_logits(loop: Any, rng: Random) -> None:
    """Logits of -inf, as masked classes have, are probabilities of 0.

    zh: 被屏蔽的类的 logit 是 -inf，概率就是 0。
    """
    step = draw_step(rng, 16)
    step.logits[:, 1:3] = -math.inf
    loop.run(1, [Step(step.losses, step.logits, step.logits.argmax(1))])


def test_rows_with_strides(loop: Any, rng: Random, device: str) -> None:
    """Losses and logits may be views: a column of a larger tensor, a transposed one.

    zh: losses 和 logits 可以是视图：大张量的一列、转置。
    """

    def place(step: Step) -> Any:
        losses, logits, labels = step.move(device)
        return torch.stack([losses, -losses], 1)[:, 0], logits.t().contiguous().t(), labels

    loop.run(2, [draw_step(rng, 9, 7) for _ in range(2)], place=place)


def test_one_class(loop: Any, rng: Random) -> None:
    """With one class, every answer is right and sure.

    zh: 只有一个类时，个个都对，个个确信。
    """
    loop.run(1, [draw_step(rng, 3, 1)])


def test_inputs_stay_as_they_are(loop: Any, rng: Random, expect: Any, device: str) -> None:
    """An update changes none of its inputs.

    zh: update 不改动任何输入。
    """
    losses, logits, labels = draw_step(rng, 8, ignored=0.5).move(device)
    meter = loop.solution.RunningMetrics(1)
    with expect.unchanged(losses=losses, logits=logits, labels=labels):
        report = meter.update(losses, logits, labels)
    loop.evidence.exact("samples", report.samples)
