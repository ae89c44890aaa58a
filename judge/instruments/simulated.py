"""The instruments on the simulated device: they read what its machine has written down."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Literal

from judge.devices.sim.clock import NEVER, Task
from judge.devices.sim.footprint import PeakMeter
from judge.devices.sim.ledger import HostWait
from judge.instruments.observation import DeviceSpan, Engine, Observation, Owner, Sync
from judge.instruments.races import as_race

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation

ENGINES: dict[str, Engine] = {"sm": "sm", "h2d": "h2d", "d2h": "d2h"}


class SimulatedInstruments:
    """Instruments of one installation.

    Args:
        simulation: the installed device.
        wants_history: whether a snapshot will be asked for, with the history of allocations in it.
    """

    device: Literal["cuda", "sim"] = "sim"
    is_watching = False

    def __init__(self, simulation: Simulation, *, wants_history: bool = False) -> None:
        self._machine = simulation.machine
        self._wants_history = wants_history
        self._meter: PeakMeter | None = None
        self._started_us = 0.0
        self._allocated_before_bytes = 0
        self._first_wait = self._first_kernel = self._first_race = self._first_launch = 0

    def start(self) -> None:
        """Begin to watch. *Synchronises: no.*"""
        machine = self._machine
        self.is_watching = True
        self._started_us = machine.clock.host_us
        self._first_wait = len(machine.ledger.waits)
        self._first_kernel = machine.dropped_kernels + len(machine.kernels)
        machine.shadow.forget_known()
        self._first_race = len(machine.shadow.races)
        self._first_launch = machine.launches
        if self._meter is not None:
            machine.memory.footprint.stop(self._meter)
        self._allocated_before_bytes = machine.memory.allocator.memory_allocated()
        self._meter = machine.memory.footprint.start(machine.memory.allocator.memory_reserved())
        if self._wants_history:
            import torch

            torch.cuda.memory._record_memory_history()

    def observe(self) -> Observation:
        """Return what has been seen since the start; work that has not begun is left out. *Synchronises: no.*"""
        return self._observe()

    def stop(self) -> Observation:
        """Return what was seen since the start, with all work that is queued. *Synchronises: no.*"""
        self.is_watching = False
        self._machine.clock.settle(NEVER)
        return self._observe()

    def dump_snapshot(self) -> bytes:
        """Return the memory snapshot of this moment, pickled."""
        import pickle

        import torch

        return pickle.dumps(torch.cuda.memory._snapshot())

    def _observe(self) -> Observation:
        machine, meter = self._machine, self._meter
        if meter is None:
            raise RuntimeError("the instruments have not been started")
        spans, dropped = self._read_spans()
        return Observation(
            device="sim",
            device_name=machine.profile.device.name,
            syncs=tuple(_as_sync(wait) for wait in machine.ledger.waits[self._first_wait :]),
            races=tuple(as_race(race) for race in machine.shadow.races[self._first_race :]),
            spans=spans,
            dropped_spans=dropped,
            launches=machine.launches - self._first_launch,
            started_us=self._started_us,
            stopped_us=machine.clock.host_us,
            allocated_before_bytes=self._allocated_before_bytes,
            peak_allocated_bytes=meter.peak_allocated_bytes,
            peak_reserved_bytes=meter.peak_reserved_bytes,
            notes=("races_forgotten",) if machine.shadow.forgotten else (),
            by_site=tuple(Owner(site, size) for site, size in machine.memory.footprint.read(meter)),
        )

    def _read_spans(self) -> tuple[tuple[DeviceSpan, ...], int]:
        """Return the settled work since the start, up to the first that is not, and how much has been dropped."""
        machine = self._machine
        skipped = self._first_kernel - machine.dropped_kernels
        spans = []
        for task in islice(list(machine.kernels), max(skipped, 0), None):
            if task.end_us == NEVER:
                break
            spans.append(_as_span(task))
        return tuple(spans), max(-skipped, 0)


def _as_span(task: Task) -> DeviceSpan:
    return DeviceSpan(
        task.name, task.stream, ENGINES[task.engine], task.start_us, task.end_us, task.issue_us, task.site
    )


def _as_sync(wait: HostWait) -> Sync:
    return Sync(wait.kind, wait.call, wait.site, wait.stream, wait.at_us, wait.waited_us, wait.is_seen_by_debug_mode)
