"""Reports about hidden waits, and about times that are none."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from tests.conformance.reports.report import BUSY_CYCLES, Report


def forbid_waits(program: Callable[[], object]) -> bool:
    """Run a program that must not wait for the device; tell nothing."""
    torch.cuda.set_sync_debug_mode("error")
    try:
        program()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return False


def index_by_number(is_mended: bool) -> bool:
    """Take one row by an index that lies on the device.

    Cause: a 0-d tensor as an index is read by the host.
    Right fix: ``index_select`` with a 1-d index.
    """
    table = torch.arange(12.0, device="cuda").view(3, 4)
    row = torch.ones((), dtype=torch.long, device="cuda")
    if is_mended:
        return forbid_waits(lambda: table.index_select(0, row.view(1)))
    return forbid_waits(lambda: table[row])


def assign_number(is_mended: bool) -> bool:
    """Set one element.

    Cause: ``x[0] = 5.0`` makes a CPU scalar and copies it to the device, waiting.
    Right fix: assign to a slice, which fills.
    """
    values = torch.zeros(4, device="cuda")

    def assign() -> None:
        values[slice(0, 1) if is_mended else 0] = 5.0

    return forbid_waits(assign)


def ask_early(is_mended: bool) -> bool:
    """Ask two events for the time between them.

    Cause: the second one has not been reached yet.
    Right fix: synchronize with it first.
    """
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    torch.cuda._sleep(BUSY_CYCLES)
    end.record()
    if is_mended:
        end.synchronize()
    return start.elapsed_time(end) < 1.0


def ask_without_timing(is_mended: bool) -> bool:
    """Ask events that were made by default.

    Cause: events do not keep the time unless told to.
    Right fix: ``enable_timing=True``.
    """
    start, end = (torch.cuda.Event(enable_timing=is_mended) for _ in range(2))
    start.record()
    torch.cuda._sleep(BUSY_CYCLES)
    end.record()
    end.synchronize()
    return start.elapsed_time(end) < 1.0


def time_launch(is_mended: bool) -> bool:
    """Measure 200 ms of work.

    Cause: the host's clock is read when the work has been launched, not when it is done.
    Right fix: events on the stream, and a wait for the second one.
    """
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin = time.perf_counter()
    start.record()
    torch.cuda._sleep(BUSY_CYCLES)
    end.record()
    measured_ms = (time.perf_counter() - begin) * 1e3
    end.synchronize()
    if is_mended:
        measured_ms = start.elapsed_time(end)
    return measured_ms < 100.0


WAIT = "called a synchronizing CUDA operation"

REPORTS = (
    Report(
        "number_on_the_device_as_index",
        "pytorch/pytorch#105641, #108968",
        lambda: index_by_number(False),
        lambda: index_by_number(True),
        error=WAIT,
    ),
    Report(
        "element_assigned",
        "pytorch/pytorch#188267",
        lambda: assign_number(False),
        lambda: assign_number(True),
        error=WAIT,
    ),
    Report(
        "elapsed_time_asked_early",
        "pytorch/pytorch#85796",
        lambda: ask_early(False),
        lambda: ask_early(True),
        error="Both events must be completed before calculating elapsed time|device not ready",
    ),
    Report(
        "elapsed_time_without_timing",
        "meta-pytorch/torchcomms#2270",
        lambda: ask_without_timing(False),
        lambda: ask_without_timing(True),
        error="Both events must be created with argument 'enable_timing=True'.",
    ),
    Report(
        "launch_timed_for_the_work",
        "speechmatics.com, timing-operations-in-pytorch",
        lambda: time_launch(False),
        lambda: time_launch(True),
    ),
)
