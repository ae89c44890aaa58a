"""Long runs and low precision: what a sum loses that is kept in the dtype of its terms."""

from __future__ import annotations

from random import Random
from typing import Any

import torch
from support_steps import Step, draw_step


def test_a_large_sum_keeps_small_terms(loop: Any) -> None:
    """The sum of the losses is large already; further steps still count.

    zh: 损失的总和已经很大，后面的步照样算数。
    """
    first = torch.full((64,), 2.0**20)
    rest = [torch.full((4,), 0.98) for _ in range(24)]
    steps = [Step(losses, torch.zeros(len(losses), 2), torch.zeros(len(losses), dtype=torch.int64)) for losses in rest]
    steps.insert(0, Step(first, torch.zeros(64, 2), torch.zeros(64, dtype=torch.int64)))
    loop.run(25, steps)


def test_half_losses_add_up(loop: Any, rng: Random) -> None:
    """Half losses whose sum no half can hold.

    zh: 半精度的损失，总和是半精度装不下的。
    """
    steps = [draw_step(rng, 3000, 2, torch.float16) for _ in range(3)]
    for step in steps:
        step.losses.mul_(20)
    loop.run(3, steps)


def test_many_right_answers(loop: Any) -> None:
    """All of some thousands of rows but one are right: the count is exact.

    zh: 几千行里只错一行：计数必须精确。
    """
    logits = torch.tensor([[0.0, 1.0]]).repeat(4099, 1).to(torch.float16)
    labels = torch.ones(4099, dtype=torch.int64)
    labels[7] = 0
    loop.run(2, [Step(torch.ones(4099, dtype=torch.float16), logits, labels)] * 2)


def test_close_logits_are_told_apart(loop: Any) -> None:
    """Two logits differ by the last bit of their dtype: the larger one is the answer, however near their softmax.

    zh: 两个 logit 只差最后一位：较大的就是答案，不论它们的 softmax 多接近。
    """
    step = torch.arange(8, dtype=torch.float32)
    logits = torch.stack([1 + step / 128, 1 + (step + 1) / 128, step * 0], 1).to(torch.bfloat16)
    loop.run(1, [Step(torch.ones(8), logits, torch.ones(8, dtype=torch.int64))])


def test_confidence_of_many_classes(loop: Any, rng: Random) -> None:
    """Over some thousands of classes in half, the largest probability is that of float64.

    zh: 半精度、几千个类，最大概率仍与 float64 的一致。
    """
    loop.run(1, [draw_step(rng, 3, 5000, torch.bfloat16), draw_step(rng, 2, 5000, torch.float16)])
