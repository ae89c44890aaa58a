"""The clock starts with the first kernel: its launch is forgotten.

Caught by: test_1_schedule.py::test_the_first_kernel_waits_for_its_launch
Caught by: test_2_settle.py::test_the_first_launch_is_idle_time
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Row:
    """A kernel or a synchronize, as often in a row as ``count`` says."""

    name: str
    device_ns: int
    host_ns: int
    count: int = 1
    is_sync: bool = False


@dataclass(frozen=True)
class Kernel:
    """A kernel on the timeline."""

    name: str
    launched_ns: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Ledger:
    """What the time of a step was spent on."""

    makespan_ns: int
    busy_ns: int
    launch_idle_ns: int
    sync_idle_ns: int


def schedule(rows: Sequence[Row]) -> list[Kernel]:
    """Return every kernel with the times at which it is launched, starts and ends."""
    return _Queue(rows).kernels


def settle(rows: Sequence[Row]) -> Ledger:
    """Return what the step's time was spent on."""
    queue = _Queue(rows)
    busy_ns = sum(kernel.end_ns - kernel.start_ns for kernel in queue.kernels)
    return Ledger(queue.makespan_ns, busy_ns, queue.launch_idle_ns, queue.sync_idle_ns)


def find_bound(rows: Sequence[Row]) -> str:
    """Return whose time the step hangs on: ``"launch"``, ``"device"`` or ``"even"``."""
    free_launches = _Queue([row if row.is_sync else replace(row, host_ns=0) for row in rows]).makespan_ns
    free_kernels = _Queue([replace(row, device_ns=0) for row in rows]).makespan_ns
    if free_launches < free_kernels:
        return "launch"
    return "device" if free_launches > free_kernels else "even"


def capture(rows: Sequence[Row], replay_ns: int) -> list[Row]:
    """Return the rows with each run of kernels between synchronizes as one replay."""
    captured = []
    is_first = True
    for row in _expand(rows):
        # A replay costs the host once; then the device has all of its kernels.
        captured.append(row if row.is_sync else replace(row, host_ns=replay_ns if is_first else 0))
        is_first = row.is_sync
    return captured


def fuse(rows: Sequence[Row], names: Sequence[str], fused: str, device_ns: int) -> list[Row]:
    """Return the rows with one kernel wherever kernels of these names follow one another."""
    singles = list(_expand(rows))
    result: list[Row] = []
    at = 0
    while at < len(singles):
        run = singles[at : at + len(names)]
        if [row.name for row in run] == list(names) and not any(row.is_sync for row in run):
            result.append(Row(fused, device_ns, run[0].host_ns))
            at += len(names)
        else:
            result.append(singles[at])
            at += 1
    return result


class _Queue:
    """The host launches, the device works off: each as early as it can.

    Args:
        rows: what the host does, in order.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.kernels: list[Kernel] = []
        self.launch_idle_ns = 0
        self.sync_idle_ns = 0
        self._host_ns = 0
        self._dry_ns = 0
        """When the device has worked off all that it was given so far."""
        self._has_waited = False
        """Whether the host has waited since the last kernel, and so has let the device run dry."""
        for row in _expand(rows):
            self._wait(row) if row.is_sync else self._launch(row)
        self.makespan_ns = max(self._host_ns, self._dry_ns)
        self._idle_until(self.makespan_ns)

    def _launch(self, row: Row) -> None:
        if self.kernels:
            self._host_ns += row.host_ns
        start_ns = max(self._dry_ns, self._host_ns)
        self._idle_until(start_ns)
        self._dry_ns = start_ns + row.device_ns
        self._has_waited = False
        self.kernels.append(Kernel(row.name, self._host_ns, start_ns, self._dry_ns))

    def _wait(self, row: Row) -> None:
        self._has_waited = True
        self._host_ns = max(self._host_ns, self._dry_ns) + row.host_ns

    def _idle_until(self, time_ns: int) -> None:
        """Book the time in which the device has nothing to do."""
        if self._has_waited:
            self.sync_idle_ns += time_ns - self._dry_ns
        else:
            self.launch_idle_ns += time_ns - self._dry_ns


def _expand(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield every kernel and synchronize by itself."""
    for row in rows:
        for _ in range(row.count):
            yield replace(row, count=1)
