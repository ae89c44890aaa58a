"""The timeline as a Chrome trace: streams as threads, arrows from each launch to its work. Opens in Perfetto."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from judge.instruments.observation import DeviceSpan, Observation, Sync

HOST, DEVICE = 1, 2
"""Process ids."""
HOST_THREAD = 1
LEAST_US = 0.001
"""A slice without a length would not be shown, and could hold no arrow."""

Event = dict[str, Any]


def dump_trace(seen: Observation) -> str:
    """Return the trace as JSON; times are in microseconds from the start of the script."""
    events = [*_name_rows(seen), *_describe_host(seen), *_describe_device(seen)]
    head = {"displayTimeUnit": "ns", "otherData": {"device": seen.device, "device_name": seen.device_name}}
    return json.dumps(head | {"traceEvents": events}, ensure_ascii=True, separators=(",", ":")) + "\n"


def _name_rows(seen: Observation) -> Iterator[Event]:
    yield _name("process_name", HOST, 0, "host")
    yield _name("process_name", DEVICE, 0, seen.device_name or seen.device)
    yield _name("thread_name", HOST, HOST_THREAD, "main")
    for number, stream in enumerate(seen.timeline.streams, 1):
        yield _name("thread_name", DEVICE, number, stream.name)
        yield {"ph": "M", "name": "thread_sort_index", "pid": DEVICE, "tid": number, "args": {"sort_index": number}}


def _name(kind: str, process: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}


def _describe_host(seen: Observation) -> Iterator[Event]:
    """Yield the waits; launches follow with their work."""
    for sync in seen.syncs:
        yield {
            "ph": "X",
            "cat": "wait",
            "name": sync.call,
            "pid": HOST,
            "tid": HOST_THREAD,
            "ts": sync.started_us - seen.started_us,
            "dur": max(sync.waited_us, LEAST_US),
            "args": {"kind": sync.kind, "stream": sync.stream, "at": _place(sync)},
        }


def _describe_device(seen: Observation) -> Iterator[Event]:
    threads = {stream.name: number for number, stream in enumerate(seen.timeline.streams, 1)}
    for number, span in enumerate(seen.spans):
        start_us = span.started_us - seen.started_us
        yield {
            "ph": "X",
            "cat": "kernel" if span.engine == "sm" else span.engine,
            "name": span.name,
            "pid": DEVICE,
            "tid": threads[span.stream],
            "ts": start_us,
            "dur": max(span.ended_us - span.started_us, LEAST_US),
            "args": {"at": _place(span)},
        }
        if span.launched_us is not None:
            yield from _describe_launch(span, number, threads[span.stream], seen.started_us)


def _describe_launch(span: DeviceSpan, number: int, thread: int, started_us: float) -> Iterator[Event]:
    """Yield the launch on the host and the arrow from it to the work."""
    assert span.launched_us is not None  # the caller has looked
    at_us = span.launched_us - started_us
    host = {"pid": HOST, "tid": HOST_THREAD}
    yield {"ph": "X", "cat": "launch", "name": span.name, "ts": at_us - LEAST_US, "dur": LEAST_US, **host}
    arrow = {"cat": "launch", "name": "launch", "id": number}
    yield {"ph": "s", "ts": at_us - LEAST_US, **arrow, **host}
    start_us = span.started_us - started_us
    yield {"ph": "f", "bp": "e", "ts": start_us, "pid": DEVICE, "tid": thread, **arrow}


def _place(item: Sync | DeviceSpan) -> str:
    return f"{os.path.relpath(item.site.file)}:{item.site.line}" if item.site.line else "?"
