"""Each report is about the steps since the last one only.

Caught by: test_1_reports.py::test_reports_come_in_time
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

IGNORED = -100
"""The label of a row that does not count."""


@dataclass(frozen=True)
class Report:
    """The figures of all steps so far."""

    steps: int
    """Calls of ``update``, those without rows included."""
    samples: int
    """Rows that count."""
    loss: float
    """Mean over them; NaN if there are none."""
    accuracy: float
    """Share of them whose largest logit is that of the label; NaN if there are none."""
    max_confidence: float
    """The largest probability of any class in any of them; 0 if there are none."""


class RunningMetrics:
    """Loss, accuracy and largest confidence since the beginning, read from the device once in ``flush_every`` steps.

    Args:
        flush_every: steps from one report to the next, 1 or more.

    Raises:
        ValueError: ``flush_every`` is less than 1.
    """

    def __init__(self, flush_every: int) -> None:
        if flush_every < 1:
            raise ValueError(f"flush_every must be at least 1, not {flush_every}")
        self._flush_every = flush_every
        self._steps = 0
        self._reported = 0
        # Sums of losses, of right answers and of rows, and the largest confidence: one tensor, one copy to the host.
        self._state = torch.zeros(4, dtype=torch.float64, device="cuda")

    @torch.no_grad()
    def update(self, losses: Tensor, logits: Tensor, labels: Tensor) -> Report | None:
        """Take a step's rows into account.

        Args:
            losses: (n,), floating point, on the device; may carry a graph.
            logits: (n, classes), floating point, on the device; may carry a graph.
            labels: (n,), int64, on the device; rows with the label -100 do not count, whatever they hold.

        Returns:
            The report, at each ``flush_every``-th step since the last report, else ``None``.

        Synchronises: only where it reports, once.
        """
        counts = labels != IGNORED
        is_right = logits.argmax(1) == labels
        confidence = torch.softmax(logits, 1, dtype=torch.float32).amax(1)
        sums = [torch.where(counts, losses, 0), is_right, counts]
        self._state[:3] += torch.stack([part.sum(dtype=torch.float64) for part in sums])
        # Behind the largest so far, an empty batch has a largest value, too.
        candidates = torch.cat([self._state[3:], torch.where(counts, confidence, 0)])
        self._state[3:] = candidates.amax()
        self._steps += 1
        return self.flush() if self._steps - self._reported == self._flush_every else None

    def flush(self) -> Report | None:
        """Return the report of all steps so far, or ``None`` if there has been none since the last report.

        Synchronises: only where it reports, once.
        """
        if self._steps == self._reported:
            return None
        self._reported = self._steps
        loss, right, samples, top = self._state.tolist()
        self._state.zero_()
        if samples == 0:
            return Report(self._steps, 0, float("nan"), float("nan"), top)
        return Report(self._steps, int(samples), loss / samples, right / samples, top)
