"""A recording under construction: calls and works in nanoseconds, written down as the profiler does."""

from __future__ import annotations

import json
from random import Random
from typing import Any, NamedTuple

PROCESS = 448
MAIN, OTHER = 448, 451
"""Threads of the host."""
DEFAULT, COPY = 7, 13
"""Streams."""

PINNED_IN, PINNED_OUT = "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pinned)"
PAGEABLE_IN, PAGEABLE_OUT = "Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pageable)"
LAUNCH = "cudaLaunchKernel"

Event = dict[str, Any]


class Span(NamedTuple):
    """A call or a work, for the drawing."""

    row: str
    symbol: str
    start_ns: int
    end_ns: int


class Recording:
    """A trace that grows call by call and work by work.

    Args:
        rng: chooses the order of the events, and numbers that mean nothing.
        origin_us: what the profiler adds to every time; small in tests that show their times to a learner.
    """

    def __init__(self, rng: Random, origin_us: int = 0) -> None:
        self._rng = rng
        self._origin_us = origin_us
        self._events: list[Event] = []
        self._last = rng.randrange(100, 200)
        self.spans: list[Span] = []

    def call(self, name: str, start: int, end: int, thread: int = MAIN, driver: bool = False) -> int:
        """Add a call of the host, and return its correlation. *start*, *end*: nanoseconds."""
        self._last += self._rng.randrange(1, 9)
        arguments = {"External id": self._draw_external(), "cbid": 211, "correlation": self._last}
        category = "cuda_driver" if driver else "cuda_runtime"
        self._add("X", category, name, (PROCESS, thread), start, end, arguments)
        self.spans.append(Span("host" if thread == MAIN else "host 2", _symbol(name), start, end))
        return self._last

    def work(
        self,
        start: int,
        end: int,
        correlation: int,
        *,
        kind: str = "kernel",
        name: str = "",
        stream: int = DEFAULT,
        device: int = 0,
        size_bytes: int = 4096,
    ) -> None:
        """Add a work of the device that the call of that correlation started."""
        arguments: Event = {"External id": self._draw_external(), "device": device, "context": 1, "stream": stream}
        arguments["correlation"] = correlation
        if kind != "kernel":
            arguments["bytes"] = size_bytes
        default = {"kernel": "add_kernel", "gpu_memcpy": PINNED_IN, "gpu_memset": "Memset (Device)"}[kind]
        self._add("X", kind, name or default, (device, stream), start, end, arguments)
        row = f"stream {stream}" if device == 0 else f"gpu {device} s {stream}"
        self.spans.append(Span(row, {"kernel": "#", "gpu_memcpy": "=", "gpu_memset": "0"}[kind], start, end))

    def launch(self, start: int, end: int, **fields: Any) -> int:
        """Add a work together with a call that came long before it; return the correlation."""
        ready = min((span.start_ns for span in self.spans), default=start)
        correlation = self.call(LAUNCH, ready - 2000, ready - 1000)
        self.work(start, end, correlation, **fields)
        return correlation

    def skip(self, ph: str, **fields: Any) -> None:
        """Add an event that means nothing, exactly as given."""
        self._events.append({"ph": ph, **fields})

    def lose(self, key: str) -> None:
        """Take a key out of the last event."""
        del self._events[-1][key]

    def dump(self) -> dict[str, Any]:
        """Return the trace as ``json.load`` would: with labels, arrows and headings, in a random order."""
        events = [*self._events, *self._surround()]
        self._rng.shuffle(events)
        loaded: dict[str, Any] = json.loads(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        return loaded

    def _surround(self) -> list[Event]:
        """Return what a profiler writes around calls and works."""
        rows = {(event["pid"], event["tid"]) for event in self._events if "tid" in event}
        noise: list[Event] = [
            {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "ts": 0.0, "args": {"name": "python"}},
            {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 9.5},
            {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch", "ts": 1.0},
        ]
        if not self._events:
            return noise
        first = max(0, min(event["ts"] for event in self._events if "ts" in event) - 50)
        for process, thread in sorted(rows):
            label = {"ph": "X", "pid": process, "tid": thread, "ts": first, "dur": 10_000.0}
            if process == PROCESS:
                noise.append(label | {"cat": "cpu_op", "name": "cudaDeviceSynchronize", "args": {"External id": 101}})
                noise.append(label | {"cat": "user_annotation", "name": "decode"})
            else:
                noise.append(label | {"cat": "gpu_user_annotation", "name": "decode", "args": {"External id": 102}})
                arguments = {"device": process, "stream": thread, "correlation": self._last}
                noise.append(label | {"cat": "cuda_sync", "name": "Stream Synchronize", "args": arguments})
        for event in self._events:
            if self._rng.random() < 0.5 and "correlation" in event.get("args", {}):
                end = "f" if "stream" in event["args"] else "s"
                arrow = {
                    "id": event["args"]["correlation"],
                    "pid": event["pid"],
                    "tid": event["tid"],
                    "ts": event["ts"],
                }
                noise.append({"ph": end, "cat": "ac2g", "name": "ac2g", **arrow})
        return noise

    def _add(
        self, ph: str, category: str, name: str, row: tuple[int, int], start: int, end: int, arguments: Event
    ) -> None:
        times = {"ts": self._origin_us + start / 1000, "dur": (end - start) / 1000}
        self._events.append(
            {"ph": ph, "cat": category, "name": name, "pid": row[0], "tid": row[1], **times, "args": arguments}
        )

    def _draw_external(self) -> int:
        """Return a number that means nothing here, and often equals a correlation of something else."""
        return self._rng.randrange(100, self._last + 2)


def _symbol(call: str) -> str:
    return "w" if "Synchronize" in call or call == "cudaMemcpy" else "."


def draw(spans: list[Span], cells: int = 60) -> str:
    """Return the spans as rows of plain text, host above device, on one scale."""
    if not spans:
        return ""
    start, end = min(span.start_ns for span in spans), max(span.end_ns for span in spans)
    scale = max(1, end - start) / cells
    rows: dict[str, list[str]] = {}
    for span in sorted(spans, key=lambda one: (not one.row.startswith("host"), one.row, one.start_ns)):
        row = rows.setdefault(span.row, [" "] * cells)
        first = min(cells - 1, int((span.start_ns - start) / scale))
        last = min(cells, max(first + 1, round((span.end_ns - start) / scale)))
        row[first:last] = span.symbol * (last - first)
    width = max(len(name) for name in rows)
    lines = [f"{name:<{width}} |{''.join(row)}|" for name, row in rows.items()]
    return "\n".join([*lines, f"{'':<{width}}  {start} ns{str(end) + ' ns':>{cells - len(str(start)) - 3}}"])
