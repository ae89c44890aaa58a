"""Problem 203: metrics that never wait. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from dataclasses import dataclass

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
        # TODO: what has to be known of all steps so far, and where does it live?
        raise NotImplementedError

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
        # TODO: which rows count, which are right, how sure is the model? Without asking the device.
        raise NotImplementedError

    def flush(self) -> Report | None:
        """Return the report of all steps so far, or ``None`` if there has been none since the last report.

        Synchronises: only where it reports, once.
        """
        # TODO: several figures, one wait.
        raise NotImplementedError
