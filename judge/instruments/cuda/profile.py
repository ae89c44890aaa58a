"""PyTorch's profiler, from start to stop, and its time set against the host's. (torch)"""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity

from judge.instruments.cuda.clocks import Line, Mark, fit_clock
from judge.instruments.cuda.trace import Trace, read_trace

MARKS = 5
"""How many marks are made at either end of a recording."""
MARGIN_S = 0.001
"""Between our own synchronisations and what is recorded: the two clocks agree to some microseconds only."""


class Profile:
    """One recording of runtime calls and device work.

    The profiler's clock is set against ours by marks: ranges with names of our own, some at the beginning and some
    at the end, which stand in the trace.
    """

    def __init__(self) -> None:
        self.started_ns = self.stopped_ns = 0
        self._marks: dict[str, float] = {}
        self._clock = Line(1.0, 0.0)
        self._profiler = torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])

    def start(self) -> None:
        """Begin to record. *Synchronises: yes.*"""
        with _quiet():
            self._profiler.start()
        torch.cuda.synchronize()
        self._marks = _make_marks("first")
        time.sleep(MARGIN_S)
        self.started_ns = time.perf_counter_ns()

    def stop(self) -> Trace:
        """Return what was recorded between the two moments. *Synchronises: yes.*"""
        self.stopped_ns = time.perf_counter_ns()
        time.sleep(MARGIN_S)
        self._marks |= _make_marks("last")
        torch.cuda.synchronize()
        with _quiet():
            self._profiler.stop()
        trace = self._export()
        first, last = (self._find_marks(trace, end) for end in ("first", "last"))
        if not first or not last:
            return Trace(is_lost=True)
        self._clock = fit_clock(first, last)
        return trace.cut(self._clock.invert(self.started_ns / 1e3), self._clock.invert(self.stopped_ns / 1e3))

    def _find_marks(self, trace: Trace, end: str) -> list[Mark]:
        return [
            Mark(trace.ranges[name], ours_us)
            for name, ours_us in self._marks.items()
            if end in name and name in trace.ranges
        ]

    def to_ns(self, trace_us: float) -> int:
        """Return the host's time, in nanoseconds of ``perf_counter_ns``, of a moment of the trace."""
        return round(self._clock.map(trace_us) * 1e3)

    def _export(self) -> Trace:
        with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
            path = Path(folder) / "trace.json"
            self._profiler.export_chrome_trace(str(path))
            return read_trace(json.loads(path.read_text(encoding="utf-8", errors="replace")))


def warm_profiler() -> None:
    """Record nothing once: the first recording of a process loses what runs while CUPTI starts. *Synchronises: yes.*"""
    with _quiet(), torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        torch.zeros(1, device="cuda").add_(1)
        torch.cuda.synchronize()


def _make_marks(end: str) -> dict[str, float]:
    """Put marks into the trace; return by name when, in microseconds of our clock."""
    marks = {}
    for number in range(MARKS):
        name = f"tacit {end} {number}"
        before_ns = time.perf_counter_ns()
        with torch.profiler.record_function(name):
            # The range began between the two readings.
            marks[name] = (before_ns + time.perf_counter_ns()) / 2e3
    return marks


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the profiler's own remarks off the script's streams."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
