"""All instruments of a real GPU together. (torch)"""

from __future__ import annotations

import contextlib
import pickle
import time
from typing import Any, Literal

import torch

from judge.devices.sim.sites import UNKNOWN
from judge.instruments.cuda.calls import CallLog
from judge.instruments.cuda.explicit import ExplicitWaits
from judge.instruments.cuda.hazards import Hazards
from judge.instruments.cuda.holders import find_holders
from judge.instruments.cuda.operations import OperationMode
from judge.instruments.cuda.profile import Profile, warm_profiler
from judge.instruments.cuda.trace import Trace, Work
from judge.instruments.cuda.witness import find_syncs
from judge.instruments.observation import DeviceSpan, Observation, Owner, Sync

HISTORY_ENTRIES = 1_000_000


class CudaInstruments:
    """Watches the current CUDA device; everything is put back by ``stop``.

    The profiler is the witness of the host's waits, sync debug mode and a dispatch mode name their lines, and the
    history of allocations names the holders of memory. Operators run some ten times slower on the host meanwhile.

    Args:
        wants_history: kept for the interface; the history is needed in any case.
    """

    device: Literal["cuda", "sim"] = "cuda"
    is_watching = False

    def __init__(self, *, wants_history: bool = False) -> None:
        del wants_history
        torch.cuda.init()  # type: ignore[no-untyped-call]
        warm_profiler()
        self._hazards = Hazards()

    def start(self) -> None:
        """Begin to watch. *Synchronises: yes.*"""
        self._log = CallLog()
        self._trace = Trace(is_lost=True)
        self._profile = Profile()
        explicit = ExplicitWaits(self._log)
        with contextlib.ExitStack() as undo:
            torch.cuda.memory._record_memory_history(max_entries=HISTORY_ENTRIES, stacks="python")
            torch.cuda.reset_peak_memory_stats()
            self._allocated_before_bytes = torch.cuda.memory_allocated()
            self._hazards.start()
            undo.callback(self._hazards.stop)
            # Last of what synchronises: what comes after its start is taken for the script's.
            self._profile.start()
            undo.callback(self._take_trace)
            undo.enter_context(OperationMode(self._log, self._hazards))
            undo.callback(explicit.stop)
            explicit.start()
            self._undo = undo.pop_all()
        self.is_watching = True

    def _take_trace(self) -> None:
        self._trace = self._profile.stop()

    def observe(self) -> Observation:
        """Return races and memory so far; the profiler can't be read before its end. *Synchronises: no.*"""
        return self._build((), Trace(), time.perf_counter_ns() / 1e3, ())

    def stop(self) -> Observation:
        """Return what was seen since the start. *Synchronises: yes.*"""
        self.is_watching = False
        self._undo.close()  # all of it, whatever one part complains of
        trace = self._trace
        syncs = find_syncs(self._log, trace, to_ns=self._profile.to_ns, name_op=name_op)
        holders = find_holders(_read_history())
        seen = self._build(tuple(syncs), trace, self._profile.stopped_ns / 1e3, holders)
        torch.cuda.memory._record_memory_history(enabled=None)
        return seen

    def dump_snapshot(self) -> bytes:
        """Return the memory snapshot of this moment, pickled."""
        return pickle.dumps(torch.cuda.memory._snapshot())

    def _build(
        self, syncs: tuple[Sync, ...], trace: Trace, stopped_us: float, holders: tuple[Owner, ...]
    ) -> Observation:
        launched = {call.correlation: self._profile.to_ns(call.started_us) for call in trace.calls}
        notes = ["races_eager_only"]
        if any(sync.site.line == 0 for sync in syncs):
            notes.append("unplaced_waits")
        if trace.is_lost:
            notes.append("profiler_missing")
        return Observation(
            device="cuda",
            device_name=torch.cuda.get_device_name(),
            syncs=syncs,
            races=tuple(self._hazards.races),
            spans=tuple(self._place(work, launched.get(work.correlation)) for work in trace.works),
            launches=trace.count_launches(),
            started_us=self._profile.started_ns / 1e3,
            stopped_us=stopped_us,
            allocated_before_bytes=self._allocated_before_bytes,
            peak_allocated_bytes=torch.cuda.max_memory_allocated(),
            peak_reserved_bytes=torch.cuda.max_memory_reserved(),
            by_site=holders,
            notes=tuple(notes),
        )

    def _place(self, work: Work, launched_ns: int | None) -> DeviceSpan:
        call = self._log.find(launched_ns) if launched_ns is not None else None
        site = call.site if call is not None else UNKNOWN
        started_us = self._profile.to_ns(work.started_us) / 1e3
        launched_us = launched_ns / 1e3 if launched_ns is not None else None
        ended_us = started_us + work.duration_us
        return DeviceSpan(work.name, work.stream, work.engine, started_us, ended_us, launched_us, site)


def name_op(name: str) -> tuple[str, str] | None:
    """Return the kind of an operator's wait and what the user writes for it, ``None`` where it is not known."""
    from judge.devices.sim.tensors.waits import WAITS

    if name == "_local_scalar_dense":
        return "item", "Tensor.item"
    known = WAITS.get(name)
    return (known.kind, known.call) if known is not None else None


def _read_history() -> list[dict[str, Any]]:
    traces: list[list[dict[str, Any]]] = torch.cuda.memory._snapshot()["device_traces"]
    return traces[torch.cuda.current_device()] if traces else []
