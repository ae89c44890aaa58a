"""Problem 205: a timer for work of the device. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Timing:
    """How long a call's work takes on the device."""

    samples_us: tuple[float, ...]
    """Microseconds of each repetition, in their order."""
    median_us: float
    """Their median: of an even number the mean of the middle two."""
    floor_us: float
    """The median of as many repetitions of a call that does nothing, on a device that has nothing to do."""


def measure(
    call: Callable[[], object],
    *,
    warmup: int = 3,
    repetitions: int = 11,
    streams: Sequence[torch.cuda.Stream] = (),
    reset: Callable[[], object] | None = None,
) -> Timing:
    """Return how long the work that a call queues takes on the device.

    Args:
        call: queues work on the current stream, and on ``streams``.
        warmup: calls that are not measured, before all others; 0 or more.
        repetitions: calls that are measured; 1 or more.
        streams: those beside the current one on which the call queues work that counts.
        reset: called before each call, those of the warm-up included; its work does not count.

    Raises:
        ValueError: ``warmup`` is less than 0, or ``repetitions`` less than 1.

    Synchronises: twice at most, however many repetitions there are.
    """
    # TODO: warm up.
    # TODO: what marks the begin and the end of a repetition on the device, if several streams work in it?
    # TODO: when may the time between two events be asked for?
    raise NotImplementedError
