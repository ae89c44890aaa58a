"""The device is waited for in each repetition, and the queue is empty when the next one begins.

Caught by: test_3_host.py::test_the_host_waits_twice[30]
"""

from __future__ import annotations

import statistics
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

    Synchronises: twice, however many repetitions there are.
    """
    if warmup < 0 or repetitions < 1:
        raise ValueError(f"warmup must be at least 0 and repetitions at least 1, not {warmup} and {repetitions}")
    for _ in range(warmup):
        _queue(call, streams, reset)
    torch.cuda.synchronize()  # the floor is that of a device that waits for the host
    floors = [_queue(_do_nothing, streams) for _ in range(repetitions)]
    pairs = [_queue(call, streams, reset) for _ in range(repetitions)]
    torch.cuda.synchronize()
    samples_us = _read(pairs)
    return Timing(samples_us, statistics.median(samples_us), statistics.median(_read(floors)))


Pair = tuple[torch.cuda.Event, torch.cuda.Event]


def _queue(
    call: Callable[[], object], streams: Sequence[torch.cuda.Stream], reset: Callable[[], object] | None = None
) -> Pair:
    """Queue a call between two events of the current stream, between which the other streams run, too."""
    if reset is not None:
        reset()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    current = torch.cuda.current_stream()
    for stream in streams:
        current.wait_stream(stream)  # what they hold already is over before the start
    start.record(current)
    for stream in streams:
        stream.wait_event(start)  # and what the call gives them begins behind it
    call()
    for stream in streams:
        current.wait_stream(stream)
    end.record(current)
    end.synchronize()
    return start, end


def _do_nothing() -> None:
    """Stand in for a call."""


def _read(pairs: Sequence[Pair]) -> tuple[float, ...]:
    """Return the microseconds between events that are over."""
    return tuple(start.elapsed_time(end) * 1e3 for start, end in pairs)
