"""What instruments saw of a stretch of a program."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from judge.devices.sim.sites import Site

Engine = Literal["sm", "h2d", "d2h"]
WaitKey = tuple[Site, str, str]
"""What makes waits the same: line, kind and call."""


@dataclass(frozen=True, slots=True)
class Sync:
    """One time that the host waited for the device."""

    kind: str
    """What sort of wait: ``item``, ``copy_d2h``, ``nonzero``, ``stream_synchronize``…"""
    call: str
    """What the user wrote: ``Tensor.item``."""
    site: Site
    stream: str
    """Name of the stream that was waited for."""
    started_us: float
    """Host time at which the wait began."""
    waited_us: float
    is_seen_by_debug_mode: bool = True
    """Whether ``torch.cuda.set_sync_debug_mode`` tells of it."""

    @property
    def instead(self) -> Mapping[str, str] | None:
        """What to write in place of the wait, by language, or ``None`` where there is nothing."""
        from judge.instruments.replacements import find_replacement

        return find_replacement(self.kind, self.call)

    @property
    def key(self) -> WaitKey:
        """What makes it the same wait as another."""
        return self.site, self.kind, self.call


@dataclass(frozen=True, slots=True)
class Touch:
    """One side of a race."""

    op: str
    """The operation that read or wrote the bytes."""
    site: Site
    stream: str
    """Name of the stream it ran on, ``host`` for the host itself."""
    variable: str | None = None
    """The user's own name for that stream, where one was in sight."""


@dataclass(frozen=True, slots=True)
class Race:
    """Two uses of the same bytes without an order between them."""

    kind: str
    """What the second use does to the first: ``read-after-write``, ``reused-block``, ``stale-graph-input``…"""
    first: Touch
    second: Touch
    missing: Mapping[str, str]
    """The order that is missing, in words, by language."""
    advice: Mapping[str, str]
    """What to write, and where, by language."""
    looks: tuple[Look, ...] = ()
    """Values that another order gives, where a second look has found one."""


@dataclass(frozen=True, slots=True)
class Look:
    """A value that the hardware could have produced in another order that the program allows."""

    what: str
    """Whose value: ``input``, ``output`` or ``memory``."""
    op: str
    element: int
    """Index of the first element that differs."""
    saw: str
    could: str


@dataclass(frozen=True, slots=True)
class DeviceSpan:
    """A kernel or a copy on the device."""

    name: str
    stream: str
    engine: Engine
    started_us: float
    ended_us: float
    launched_us: float | None
    """Host time of its launch, where it is known; the nodes of a graph's replay share it."""
    site: Site


@dataclass(frozen=True, slots=True)
class Owner:
    """Device memory that one line held when most memory was in use."""

    site: Site
    size_bytes: int


@dataclass(frozen=True, slots=True)
class StreamTime:
    """How long a stream had work running."""

    name: str
    busy_us: float


@dataclass(frozen=True, slots=True)
class Step:
    """The repeating part of a program; figures of one repetition are medians."""

    count: int
    """How often it repeats."""
    launches: int
    """Launches by the host in one repetition; a graph's replay is one."""
    kernels: int
    """Kernels that ran in one repetition, those of replayed graphs included."""
    works: int
    """Kernels and copies in one repetition."""
    site: Site
    """A line that is reached once in each repetition."""
    starts_us: tuple[float, ...]
    """Host time of the first launch of each repetition."""
    ends_us: tuple[float, ...]
    """Host time of the first launch after each repetition; infinite where there is none."""
    period_us: float
    """Host time from one repetition to the next."""
    waited_us: float
    """Host time that passed in one repetition in waits that repeat (the mean: not every one has to wait)."""
    busy_us: float
    """Time in which the device ran the work of one repetition."""
    turnaround_us: float
    """Device time from the first work of one repetition to the first of the next."""

    @property
    def host_us(self) -> float:
        """Host time of one repetition without its waits."""
        return max(self.period_us - self.waited_us, 0.0)

    @property
    def idle(self) -> float:
        """Share of a repetition in which nothing ran on the device, 0 to 1."""
        return max(1 - self.busy_us / self.turnaround_us, 0.0) if self.turnaround_us > 0 else 0.0

    def is_within(self, at_us: float) -> bool:
        """Return whether a moment of the host lies in one of the repetitions."""
        return self.find(at_us) is not None

    def find(self, at_us: float) -> int | None:
        """Return the number of the repetition that a moment of the host lies in, from 0; ``None`` between them."""
        number = bisect_right(self.starts_us, at_us) - 1
        return number if number >= 0 and at_us < self.ends_us[number] else None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Figures of the time between start and stop, in microseconds of the device's clock."""

    makespan_us: float
    """From the start to the end of the last work of host or device."""
    host_us: float
    """Time in which the host worked and did not wait."""
    streams: tuple[StreamTime, ...]
    """In the order of their first use."""
    device_idle_us: float
    """Time of the makespan in which nothing ran on the device."""
    overlap_us: float
    """Time in which work of two streams or more ran at once."""
    launches: int
    """Launches by the host; a graph's replay is one."""
    kernels: int
    """Kernels that ran, those of replayed graphs included."""
    copies: int
    """Copies between host and device."""
    step: Step | None
    """The repeating part, where one can be told."""

    @property
    def device_busy_us(self) -> float:
        """Time of the makespan in which something ran on the device."""
        return self.makespan_us - self.device_idle_us

    @property
    def idle(self) -> float:
        """Idle share of the makespan, 0 to 1."""
        return self.device_idle_us / self.makespan_us if self.makespan_us else 0.0

    @property
    def overlap(self) -> float:
        """Share of the device's busy time in which two streams or more were at work, 0 to 1."""
        return self.overlap_us / self.device_busy_us if self.device_busy_us > 0 else 0.0


@dataclass(frozen=True)
class Observation:
    """Everything seen between start and stop."""

    device: Literal["cuda", "sim"]
    device_name: str
    """For example ``NVIDIA H200``."""
    syncs: tuple[Sync, ...] = ()
    """Every host wait, in order."""
    races: tuple[Race, ...] = ()
    spans: tuple[DeviceSpan, ...] = ()
    """Work of the device by its start; the oldest are dropped when there are too many."""
    dropped_spans: int = 0
    launches: int = 0
    """Launches by the host, those of dropped spans included; a graph's replay is one."""
    started_us: float = 0.0
    """Host time of the start."""
    stopped_us: float = 0.0
    """Host time of the stop."""
    allocated_before_bytes: int = 0
    """``memory_allocated()`` at the start."""
    peak_allocated_bytes: int = 0
    """Highest ``memory_allocated()`` since the start."""
    peak_reserved_bytes: int = 0
    """Highest ``memory_reserved()`` since the start."""
    by_site: tuple[Owner, ...] = ()
    """Who held the memory at that peak, the most first."""
    notes: tuple[str, ...] = field(default=())
    """What could not be seen, as keys of messages."""

    @property
    def peak_bytes(self) -> int:
        """Highest ``memory_allocated()`` since the start."""
        return self.peak_allocated_bytes

    @property
    def peak_growth_bytes(self) -> int:
        """By how much ``memory_allocated()`` rose above what it was at the start."""
        return max(self.peak_allocated_bytes - self.allocated_before_bytes, 0)

    @cached_property
    def timeline(self) -> Timeline:
        """The figures of the time between start and stop."""
        from judge.instruments.timeline import measure_timeline

        return measure_timeline(
            self.spans,
            self.syncs,
            started_us=self.started_us,
            stopped_us=self.stopped_us,
            launches=self.launches,
            dropped_spans=self.dropped_spans,
        )

    @cached_property
    def repeated(self) -> frozenset[WaitKey]:
        """Which waits belong to the steps: they took place in two of them or more."""
        from judge.instruments.repeated import find_repeated

        return find_repeated(self.syncs, self.timeline.step)

    @property
    def makespan_us(self) -> float:
        """Time from the start to the end of the last work."""
        return self.timeline.makespan_us

    @property
    def overlap(self) -> float:
        """Share of the device's busy time in which two streams or more were at work."""
        return self.timeline.overlap
