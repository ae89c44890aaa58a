"""Steps as a training or an evaluation loop makes them, and their figures in float64."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import Tensor

IGNORED = -100


@dataclass(frozen=True)
class Step:
    """What one step has, on the host."""

    losses: Tensor
    logits: Tensor
    labels: Tensor

    def move(self, device: str) -> tuple[Tensor, Tensor, Tensor]:
        """Return losses, logits and labels on the device. *Synchronises: yes.*"""
        return self.losses.to(device), self.logits.to(device), self.labels.to(device)


def draw_step(
    rng: Random, rows: int, classes: int = 5, dtype: torch.dtype = torch.float32, *, ignored: float = 0.0
) -> Step:
    """Return a step of random rows, about half of which are right.

    Args:
        rng: the judge's fixture.
        rows: 0 or more.
        classes: 1 or more.
        dtype: of losses and logits.
        ignored: share of rows that don't count.
    """
    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    logits = (torch.randn(rows, classes, generator=generator) * 2).to(dtype)
    labels = torch.randint(0, classes, (rows,), generator=generator)
    labels = torch.where(torch.rand(rows, generator=generator) < 0.4, logits.argmax(1), labels)
    labels = torch.where(torch.rand(rows, generator=generator) < ignored, IGNORED, labels)
    return Step((torch.rand(rows, generator=generator) * 4).to(dtype), logits, labels)


@dataclass
class Truth:
    """The figures of all steps so far, in float64 on the host."""

    steps: int = 0
    samples: int = 0
    loss_sum: float = 0.0
    right: int = 0
    top: float = 0.0

    def add(self, step: Step) -> None:
        """Take a step into account."""
        counts = step.labels != IGNORED
        self.steps += 1
        self.samples += int(counts.sum())
        self.loss_sum += float(step.losses.double()[counts].sum())
        self.right += int((step.logits.argmax(1) == step.labels)[counts].sum())
        confidence = torch.softmax(step.logits.double()[counts], 1)
        if confidence.numel():
            self.top = max(self.top, float(confidence.max()))

    def tell(self) -> dict[str, Any]:
        """Return what the report has to say."""
        return {
            "steps": self.steps,
            "samples": self.samples,
            "loss": self.loss_sum / self.samples if self.samples else math.nan,
            "accuracy": self.right / self.samples if self.samples else math.nan,
            "max_confidence": self.top,
        }
