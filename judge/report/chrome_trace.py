"""The timeline as a Chrome trace: streams as threads, an arrow from each launch to its work. Opens in Perfetto."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from judge.devices.sim.sites import Site
from judge.instruments.launches import Launch, gather_launches
from judge.instruments.observation import DeviceSpan, Observation

HOST, DEVICE = 1, 2
"""Process ids."""
HOST_THREAD = 1
REPLAY = "graph replay"
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
    """Yield the waits; launches follow with their arrows."""
    for sync in seen.syncs:
        yield {
            "ph": "X",
            "cat": "wait",
            "name": sync.call,
            "pid": HOST,
            "tid": HOST_THREAD,
            "ts": sync.started_us - seen.started_us,
            "dur": max(sync.waited_us, LEAST_US),
            "args": {"kind": sync.kind, "stream": sync.stream, "at": _place(sync.site)},
        }


def _describe_device(seen: Observation) -> Iterator[Event]:
    threads = {stream.name: number for number, stream in enumerate(seen.timeline.streams, 1)}
    for span in seen.spans:
        yield {
            "ph": "X",
            "cat": "kernel" if span.engine == "sm" else span.engine,
            "name": span.name,
            "pid": DEVICE,
            "tid": threads[span.stream],
            "ts": span.started_us - seen.started_us,
            "dur": max(span.ended_us - span.started_us, LEAST_US),
            "args": {"at": _place(span.site)},
        }
    for number, launch in enumerate(gather_launches(seen.spans)):
        first = min(launch.spans, key=lambda span: span.started_us)
        if first.launched_us is not None:
            yield from _describe_launch(launch, first, number, threads[first.stream], seen.started_us)


def _describe_launch(launch: Launch, first: DeviceSpan, number: int, thread: int, started_us: float) -> Iterator[Event]:
    """Yield a launch on the host, one for a whole replay, and the arrow from it to the first of its work."""
    at_us = launch.at_us - started_us - LEAST_US
    host = {"pid": HOST, "tid": HOST_THREAD, "ts": at_us}
    name = REPLAY if launch.is_replay else first.name
    arguments = {"at": _place(launch.site), "kernels": launch.kernels, "copies": len(launch.spans) - launch.kernels}
    yield {"ph": "X", "cat": "launch", "name": name, "dur": LEAST_US, "args": arguments, **host}
    arrow = {"cat": "launch", "name": "launch", "id": number}
    yield {"ph": "s", **arrow, **host}
    yield {"ph": "f", "bp": "e", "ts": first.started_us - started_us, "pid": DEVICE, "tid": thread, **arrow}


def _place(site: Site) -> str:
    return f"{os.path.relpath(site.file)}:{site.line}" if site.line else "?"
