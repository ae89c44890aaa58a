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

from judge.instruments.cuda.trace import Trace, read_trace


class Profile:
    """One recording of runtime calls and device work.

    The profiler's clock is set against ours by a synchronisation of our own, the first one that it records.
    """

    def __init__(self) -> None:
        self.started_ns = self.stopped_ns = 0
        self._marked_ns = 0
        self._offset_us = 0.0
        self._profiler = torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])

    def start(self) -> None:
        """Begin to record. *Synchronises: yes.*"""
        with _quiet():
            self._profiler.start()
        torch.cuda.synchronize()
        self._marked_ns = time.perf_counter_ns()
        torch.cuda.synchronize()
        self.started_ns = time.perf_counter_ns()

    def stop(self) -> Trace:
        """Return what was recorded between the two moments. *Synchronises: yes.*"""
        self.stopped_ns = time.perf_counter_ns()
        torch.cuda.synchronize()
        with _quiet():
            self._profiler.stop()
        trace = self._export()
        marks = [call for call in trace.calls if call.name == "cudaDeviceSynchronize"]
        if len(marks) < 2:
            return Trace()
        self._offset_us = self._marked_ns / 1e3 - marks[1].started_us
        return trace.cut(self.started_ns / 1e3 - self._offset_us, self.stopped_ns / 1e3 - self._offset_us)

    def to_ns(self, trace_us: float) -> int:
        """Return the host's time, in nanoseconds of ``perf_counter_ns``, of a moment of the trace."""
        return round((trace_us + self._offset_us) * 1e3)

    def _export(self) -> Trace:
        with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
            path = Path(folder) / "trace.json"
            self._profiler.export_chrome_trace(str(path))
            return read_trace(json.loads(path.read_text(encoding="utf-8", errors="replace")))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the profiler's own remarks off the script's streams."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
