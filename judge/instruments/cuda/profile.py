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

from judge.instruments.cuda.clocks import Line, fit_clock
from judge.instruments.cuda.trace import Trace, read_trace

PAUSES_S = (0.0, 0.0004, 0.0011, 0.0002, 0.0007)
"""Pauses before the marks: uneven, so that they are known again among other synchronisations."""
MARK = "cudaDeviceSynchronize"


class Profile:
    """One recording of runtime calls and device work.

    The profiler's clock is set against ours by synchronisations of our own, some at the beginning and some at the
    end, whose uneven distances are found again in the trace.
    """

    def __init__(self) -> None:
        self.started_ns = self.stopped_ns = 0
        self._marks: list[list[float]] = []
        self._clock = Line(1.0, 0.0)
        self._profiler = torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])

    def start(self) -> None:
        """Begin to record. *Synchronises: yes.*"""
        with _quiet():
            self._profiler.start()
        torch.cuda.synchronize()
        self._marks = [_make_marks()]
        self.started_ns = time.perf_counter_ns()

    def stop(self) -> Trace:
        """Return what was recorded between the two moments. *Synchronises: yes.*"""
        self.stopped_ns = time.perf_counter_ns()
        torch.cuda.synchronize()
        self._marks.append(_make_marks())
        with _quiet():
            self._profiler.stop()
        trace = self._export()
        seen = [call.started_us for call in trace.calls if call.name == MARK]
        if len(seen) < 2 * len(PAUSES_S):
            return Trace()
        self._clock = fit_clock(seen, self._marks[0], self._marks[1])
        return trace.cut(self._clock.invert(self.started_ns / 1e3), self._clock.invert(self.stopped_ns / 1e3))

    def to_ns(self, trace_us: float) -> int:
        """Return the host's time, in nanoseconds of ``perf_counter_ns``, of a moment of the trace."""
        return round(self._clock.map(trace_us) * 1e3)

    def _export(self) -> Trace:
        with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
            path = Path(folder) / "trace.json"
            self._profiler.export_chrome_trace(str(path))
            return read_trace(json.loads(path.read_text(encoding="utf-8", errors="replace")))


def _make_marks() -> list[float]:
    """Synchronise at uneven distances; return when, in microseconds of our clock."""
    marks = []
    for pause_s in PAUSES_S:
        time.sleep(pause_s)
        marks.append(time.perf_counter_ns() / 1e3)
        torch.cuda.synchronize()
    return marks


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the profiler's own remarks off the script's streams."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
