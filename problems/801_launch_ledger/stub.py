"""Problem 801: a launch ledger. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A kernel or a synchronize, as the host comes to it. Given: leave it as it is.

    Args:
        name: as a profiler shows it.
        device_ns: how long the kernel runs; 0 for a synchronize.
        host_ns: how long the host takes to launch it; for a synchronize, the call's own time behind the wait.
        count: how many of them follow one another, 0 or more.
        is_sync: whether it is a synchronize, not a kernel.
    """

    name: str
    device_ns: int
    host_ns: int
    count: int = 1
    is_sync: bool = False


@dataclass(frozen=True)
class Kernel:
    """One kernel on the timeline, whose 0 is the host's first move. Given: leave it as it is.

    Args:
        name: its row's.
        launched_ns: when the host was through with the launch.
        start_ns: when the device began.
        end_ns: when the device was through.
    """

    name: str
    launched_ns: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Ledger:
    """What the time of a step was spent on. Given: leave it as it is.

    Args:
        makespan_ns: from 0 to the end of the last kernel or call.
        busy_ns: the device worked.
        launch_idle_ns: it had nothing to do, since the host was still launching.
        sync_idle_ns: it had nothing to do, since the host had waited for it.
    """

    makespan_ns: int
    busy_ns: int
    launch_idle_ns: int
    sync_idle_ns: int


def schedule(rows: Sequence[Row]) -> list[Kernel]:
    """Return every kernel, a row of ``count`` n as n of them, in the order of the launches."""
    # TODO: two clocks. When has the host launched it, and when is the device through with the one before?
    raise NotImplementedError


def settle(rows: Sequence[Row]) -> Ledger:
    """Return what the step's time was spent on; the makespan is the sum of the other three."""
    # TODO: whose fault is each time in which the device stood still, the one before the first kernel included?
    raise NotImplementedError


def find_bound(rows: Sequence[Row]) -> str:
    """Return ``"launch"``, ``"device"`` or ``"even"``: which of the two, made free, would shorten the step more."""
    # TODO: ask the model, not the number of kernels.
    raise NotImplementedError


def capture(rows: Sequence[Row], replay_ns: int) -> list[Row]:
    """Return the rows with each run of kernels between synchronizes captured as a graph.

    Args:
        rows: are not changed.
        replay_ns: what a replay costs the host, however many kernels are in it.
    """
    # TODO: which kernel of a run still costs the host something? Where does a run end?
    raise NotImplementedError


def fuse(rows: Sequence[Row], names: Sequence[str], fused: str, device_ns: int) -> list[Row]:
    """Return the rows with one kernel in place of each run of kernels with these names.

    Args:
        rows: are not changed.
        names: of the kernels that become one, in this order, at least one.
        fused: the new kernel's name.
        device_ns: how long it runs.
    """
    # TODO: where do kernels of these names follow one another? A row may stand for several.
    raise NotImplementedError
