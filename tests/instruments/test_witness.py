"""The profiler's trace, the user's calls and sync debug mode, brought together without a GPU."""

from __future__ import annotations

from typing import Any

import pytest

from judge.devices.sim.sites import UNKNOWN, Site
from judge.instruments.cuda.calls import Call, CallLog
from judge.instruments.cuda.trace import Trace, read_trace
from judge.instruments.cuda.witness import find_syncs
from judge.instruments.observation import Sync

SITE = Site("script.py", 7, "main")
NAMES = {"_local_scalar_dense": ("item", "Tensor.item"), "nonzero": ("nonzero", "torch.nonzero")}


def runtime(name: str, start_us: float, duration_us: float = 5.0, correlation: int = 0) -> dict[str, Any]:
    """Return a runtime call as the profiler exports it."""
    arguments = {"correlation": correlation}
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "ts": start_us, "dur": duration_us, "args": arguments}


def copy(name: str, start_us: float, correlation: int, size_bytes: int) -> dict[str, Any]:
    """Return a copy on the device as the profiler exports it."""
    arguments = {"correlation": correlation, "stream": 7, "bytes": size_bytes}
    return {"ph": "X", "cat": "gpu_memcpy", "name": name, "ts": start_us, "dur": 9.0, "args": arguments}


def find(trace: Trace, *calls: Call) -> list[Sync]:
    """Return the waits, with both clocks the same."""
    log = CallLog()
    for call in calls:
        log.begin(call)
    return find_syncs(log, trace, to_ns=lambda at_us: round(at_us * 1000), name_op=NAMES.get)


def call(name: str, start_us: int, end_us: int, **details: Any) -> Call:
    """Return a call of line 7."""
    return Call(name, SITE, start_us * 1000, end_us * 1000, **details)


def test_a_wait_is_put_down_to_the_call_around_it() -> None:
    """The operator names the kind, the profiler the time."""
    trace = read_trace({"traceEvents": [runtime("cudaStreamSynchronize", 12, 30)]})
    (sync,) = find(trace, call("_local_scalar_dense", 10, 50, warnings=1))
    assert ("item", "Tensor.item", SITE, 30.0, True) == (
        sync.kind, sync.call, sync.site, sync.waited_us, sync.is_seen_by_debug_mode,
    )  # fmt: skip


def test_several_waits_of_one_call_count_as_often_as_debug_mode_told() -> None:
    """A decomposition inside a library is one wait of the user's."""
    trace = read_trace({"traceEvents": [runtime("cudaStreamSynchronize", at, 4) for at in (12, 20, 28)]})
    syncs = find(trace, call("linalg_svd", 10, 50, warnings=2))
    assert 2 == len(syncs)
    assert [6.0, 6.0] == [sync.waited_us for sync in syncs]


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("torch.cuda.synchronize", "device_synchronize"),
        ("torch.cuda.Event.synchronize", "event_synchronize"),
        ("torch.accelerator.synchronize", "device_synchronize"),
    ],
)
def test_explicit_forms_are_seen_without_debug_mode(written: str, kind: str) -> None:
    """Sync debug mode misses them; the wrapper names them."""
    trace = read_trace({"traceEvents": [runtime("cudaDeviceSynchronize", 12, 30)]})
    (sync,) = find(trace, call(written, 10, 50, is_explicit=True))
    assert (kind, written, False) == (sync.kind, sync.call, sync.is_seen_by_debug_mode)


@pytest.mark.parametrize(
    ("name", "size_bytes", "kinds"),
    [
        ("Memcpy HtoD (Pageable -> Device)", 4 << 20, ["copy_h2d"]),
        ("Memcpy HtoD (Pageable -> Device)", 64, []),
        ("Memcpy DtoH (Device -> Pageable)", 4 << 20, ["copy_d2h"]),
        ("Memcpy HtoD (Pinned -> Device)", 4 << 20, []),
        ("Memcpy DtoH (Device -> Pinned)", 4 << 20, []),
    ],
)
def test_a_large_pageable_copy_is_a_wait_though_nothing_synchronises(
    name: str, size_bytes: int, kinds: list[str]
) -> None:
    """A small one goes through a buffer of the driver, and pinned memory needs no host."""
    trace = read_trace({"traceEvents": [runtime("cudaMemcpyAsync", 12, 30, 3), copy(name, 20, 3, size_bytes)]})
    assert kinds == [sync.kind for sync in find(trace, call("copy_", 10, 50))]


def test_a_wait_outside_all_calls_is_kept_without_a_line() -> None:
    """A library's own wait is told, though nobody's line is."""
    trace = read_trace({"traceEvents": [runtime("cudaEventSynchronize", 190, 3)]})
    (sync,) = find(trace, call("add", 10, 50))
    assert ("event_synchronize", "cudaEventSynchronize", UNKNOWN) == (sync.kind, sync.call, sync.site)


@pytest.mark.parametrize("off_us", [-45, -20, -6, 0, 6, 20, 45])
def test_a_short_wait_is_found_though_the_clocks_differ(off_us: int) -> None:
    """An event that is over already is waited for in a microsecond: what the user wrote is the nearest of its kind."""
    trace = read_trace({"traceEvents": [runtime("cudaEventSynchronize", 101 + off_us, 1)]})
    (sync,) = find(
        trace,
        call("add", 70, 95),
        call("torch.cuda.Event.synchronize", 100, 104, is_explicit=True),
        call("mul", 110, 150),
    )
    assert ("torch.cuda.Event.synchronize", SITE) == (sync.call, sync.site)


def test_a_warning_without_a_witness_still_counts() -> None:
    """The profiler may lose an event."""
    (sync,) = find(Trace(), call("nonzero", 10, 50, warnings=1))
    assert ("nonzero", 0.0) == (sync.kind, sync.waited_us)


def test_the_innermost_call_is_found() -> None:
    """Operators nest."""
    log = CallLog()
    for one in (call("outer", 0, 100), call("inner", 10, 20), call("later", 30, 40)):
        log.begin(one)
    log.index()
    assert ["inner", "outer", "later", None] == [
        found.name if (found := log.find(at * 1000)) else None for at in (15, 25, 35, 190)
    ]


def test_a_trace_is_cut_to_what_the_host_called_meanwhile() -> None:
    """Work of the device goes with the call that started it."""
    events = [runtime("cudaLaunchKernel", at, 2, number) for number, at in enumerate((5, 15, 25))]
    kernels = [copy("Memcpy DtoD (Device -> Device)", 40 + number, number, 8) for number in range(3)]
    trace = read_trace({"traceEvents": [*events, *kernels]}).cut(10, 20)
    assert ([1], [1], 1) == (
        [one.correlation for one in trace.calls],
        [work.correlation for work in trace.works],
        trace.count_launches(),
    )


def test_a_launch_is_one_that_made_the_device_work() -> None:
    """A graph's replay is one, however many nodes it has; what goes into a capture is none."""
    calls = [
        runtime("cudaLaunchKernel", 5, 2, 1),
        runtime("cudaLaunchKernel", 8, 2, 2),
        runtime("cudaGraphLaunch", 15, 2, 3),
    ]
    works = [copy("Memcpy DtoD (Device -> Device)", 40 + at, number, 8) for at, number in enumerate((1, 3, 3, 3))]
    assert 2 == read_trace({"traceEvents": [*calls, *works]}).count_launches()


def test_a_warning_that_comes_late_belongs_to_the_call_that_waited() -> None:
    """PyTorch holds warnings back until it returns: by then the call has ended, and others of the line may follow."""
    trace = read_trace({"traceEvents": [runtime("cudaStreamSynchronize", 12, 30)]})
    log = CallLog()
    for one in (call("_local_scalar_dense", 10, 50), call("add", 60, 70)):
        log.begin(one)
    log.late_warnings.append((80_000, SITE))
    (sync,) = find_syncs(log, trace, to_ns=lambda at_us: round(at_us * 1000), name_op=NAMES.get)
    assert ("item", True) == (sync.kind, sync.is_seen_by_debug_mode)
