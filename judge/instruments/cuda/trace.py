"""Read the profiler's trace: runtime calls of the host, and the work of the device that they started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from judge.instruments.observation import Engine

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
RUNTIME = ("cuda_runtime", "cuda_driver")
SYNCHRONISING = ("cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize", "cudaMemcpy")
LAUNCHING = (
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cudaGraphLaunch",
    "cudaMemcpyAsync",
    "cudaMemsetAsync",
)
STAGED_BYTES = 64 << 10
"""A pageable copy to the device of so much or less goes through a buffer of the driver and does not block.

Source: CUDA Runtime API, "API synchronization behavior".
"""
DEFAULT_STREAMS = (0, 7)
"""How CUPTI numbers the legacy default stream."""


@dataclass(frozen=True, slots=True)
class RuntimeCall:
    """A call of the CUDA runtime by the host."""

    name: str
    started_us: float
    duration_us: float
    correlation: int


@dataclass(frozen=True, slots=True)
class Work:
    """A kernel or copy on the device."""

    name: str
    stream: str
    engine: Engine
    started_us: float
    duration_us: float
    correlation: int
    size_bytes: int


@dataclass
class Trace:
    """What the profiler recorded, in the profiler's own time."""

    calls: list[RuntimeCall] = field(default_factory=list)
    works: list[Work] = field(default_factory=list)
    ranges: dict[str, float] = field(default_factory=dict)
    """When each range with a name began (``record_function``), in microseconds; of equal names, the first."""

    is_lost: bool = False
    """Whether nothing is known: the profiler brought back not even our own marks."""

    def find_waits(self) -> list[RuntimeCall]:
        """Return the runtime calls in which the host waited for the device, in order.

        Those are the synchronising ones, and asynchronous copies from or to pageable memory, which CUDA waits for
        inside the call.
        """
        blocking = {work.correlation for work in self.works if _blocks_host(work)}
        return [
            call
            for call in self.calls
            if call.name in SYNCHRONISING or (call.name == "cudaMemcpyAsync" and call.correlation in blocking)
        ]

    def count_launches(self) -> int:
        """Return how often the host launched something: a graph's replay is one, what goes into a capture is none."""
        worked = {work.correlation for work in self.works}
        return sum(call.name in LAUNCHING and call.correlation in worked for call in self.calls)

    def cut(self, start_us: float, end_us: float) -> Trace:
        """Return what the host called between two moments, and the device work of those calls."""
        calls = [call for call in self.calls if start_us <= call.started_us < end_us]
        known = {call.correlation for call in calls}
        return Trace(calls, [work for work in self.works if work.correlation in known])


def _blocks_host(work: Work) -> bool:
    if "Pageable" not in work.name:
        return False
    return work.engine == "d2h" or work.size_bytes > STAGED_BYTES


def read_trace(data: Mapping[str, Any]) -> Trace:
    """Return runtime calls and device work of an exported Chrome trace, each in the order of its start."""
    trace = Trace()
    events: Sequence[Mapping[str, Any]] = data.get("traceEvents", ())
    for event in events:
        if event.get("ph") != "X":
            continue
        arguments = event.get("args", {})
        correlation = int(arguments.get("correlation", arguments.get("External id", 0)))
        if event.get("cat") in RUNTIME:
            call = RuntimeCall(event["name"], float(event["ts"]), float(event.get("dur", 0.0)), correlation)
            trace.calls.append(call)
        elif event.get("cat") == "user_annotation":
            trace.ranges.setdefault(str(event["name"]), float(event["ts"]))
        elif event.get("cat") in WORK:
            trace.works.append(_read_work(event, arguments, correlation))
    trace.calls.sort(key=lambda call: call.started_us)
    trace.works.sort(key=lambda work: work.started_us)
    return trace


def _read_work(event: Mapping[str, Any], arguments: Mapping[str, Any], correlation: int) -> Work:
    name = str(event["name"])
    stream = int(arguments.get("stream", 0))
    return Work(
        name=name,
        stream="default" if stream in DEFAULT_STREAMS else f"stream {stream}",
        engine=_find_engine(name),
        started_us=float(event["ts"]),
        duration_us=float(event.get("dur", 0.0)),
        correlation=correlation,
        size_bytes=int(arguments.get("bytes", 0)),
    )


def _find_engine(name: str) -> Literal["sm", "h2d", "d2h"]:
    if name.startswith("Memcpy HtoD"):
        return "h2d"
    return "d2h" if name.startswith("Memcpy DtoH") else "sm"
