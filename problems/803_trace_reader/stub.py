"""Problem 803: a trace reader. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Trace = Mapping[str, Any]
"""What ``json.load`` makes of a file that ``torch.profiler`` exported: its events stand in ``trace["traceEvents"]``."""


@dataclass(frozen=True)
class Gap:
    """A time in which a device had nothing to do. Given: leave it as it is.

    Args:
        start_ns: when the device ran dry.
        end_ns: when the next work started.
        cause: ``"queued"``, ``"sync"``, ``"launch"`` or ``"unknown"``.
    """

    start_ns: int
    end_ns: int
    cause: str


@dataclass(frozen=True)
class Wait:
    """A call in which the host waited for the device. Given: leave it as it is.

    Args:
        call: its name, as ``"cudaStreamSynchronize"``.
        start_ns: when the host called.
        waited_ns: how long the call took.
    """

    call: str
    start_ns: int
    waited_ns: int


@dataclass(frozen=True)
class Launch:
    """A call that gave a device work. Given: leave it as it is.

    Args:
        call: its name, as ``"cudaLaunchKernel"``.
        start_ns: when the host called.
        works: how many works it started.
        delay_ns: from the start of the call to the start of the first of them.
    """

    call: str
    start_ns: int
    works: int
    delay_ns: int


def measure_busy(trace: Trace, device: int = 0) -> int:
    """Return the time in which at least one stream of the device had work, in nanoseconds."""
    # TODO: which events are work, and of which device? What if two streams work at the same time?
    raise NotImplementedError


def find_gaps(trace: Trace, device: int = 0) -> list[Gap]:
    """Return the gaps between the device's first and its last work, in order, each with its cause."""
    # TODO: when has the whole device run dry? Which call brought the next work, and what did its thread do just then?
    raise NotImplementedError


def find_waits(trace: Trace) -> list[Wait]:
    """Return the calls in which the host waited for a device, in the order of their starts."""
    # TODO: which calls wait by their name, and which only because of what they copy?
    raise NotImplementedError


def measure_overlap(trace: Trace, device: int = 0) -> tuple[int, int]:
    """Return two times in nanoseconds: in which the device copied, and the part of it in which a kernel ran too."""
    # TODO: two copies may run at the same time, and so may two kernels.
    raise NotImplementedError


def find_launches(trace: Trace) -> list[Launch]:
    """Return the calls that gave any device work, in the order of their starts."""
    # TODO: what joins a call and its works? A graph's replay is one call.
    raise NotImplementedError
