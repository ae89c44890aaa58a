"""What ``inspect`` found, as it is published: ``docs/schema/inspection-1.json`` follows these models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from judge.models.base import Model

SCHEMA_VERSION: Literal[1] = 1

Count = Annotated[int, Field(ge=0)]
Microseconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class SyncLine(Model):
    """The host waits of one line, of one kind and for one stream."""

    kind: str
    """What sort of wait, for example `item`, `copy_d2h` or `device_synchronize`."""
    call: str
    """What the user wrote, for example `Tensor.item`."""
    file: str
    """Relative to the working directory where it lies below it."""
    line: Count
    """From 1; 0 where no line of the user's could be told."""
    count: Annotated[int, Field(ge=1)]
    """How often the host waited there."""
    stream: str
    """Stream that was waited for; empty for the whole device."""
    waited_us: Microseconds
    """Host time that passed there in all; 0 where the work was done already."""
    per_step: Share | None
    """How often in one step, on average; null for a wait outside the steps, or where no steps are told."""


class RaceSide(Model):
    """One of the two uses of the same bytes."""

    op: str
    """The operation."""
    file: str
    """Relative to the working directory where it lies below it."""
    line: Count
    """From 1; 0 where no line of the user's could be told."""
    stream: str
    """Stream that it ran on; `host` for the host."""
    variable: str | None
    """The script's own name for that stream, where it has one."""


class RaceLine(Model):
    """Two uses of the same bytes without an order between them."""

    kind: str
    """What is missing, in one word."""
    first: RaceSide
    second: RaceSide
    missing: str
    """The order that is missing, in words."""
    advice: str
    """What to write, and where."""


class StreamLine(Model):
    """How long one stream had work running."""

    name: str
    busy_us: Microseconds


class StepFigures(Model):
    """The repeating part of the script; figures of one step are medians."""

    count: Annotated[int, Field(ge=1)]
    """How many steps there are."""
    file: str
    """Of a line that every step comes to once; relative to the working directory where it lies below it."""
    line: Count
    launches: Count
    """By the host, in one step; a graph's replay is one."""
    kernels: Count
    """That ran in one step, those of replayed graphs included."""
    period_us: Microseconds
    """Host time from one step to the next."""
    host_us: Microseconds
    """Part of it in which the host worked."""
    waited_us: Microseconds
    """Part of it in which the host waited for the device, on average."""
    busy_us: Microseconds
    """Time in which the device ran the work of one step."""
    turnaround_us: Microseconds
    """Device time from the first work of one step to the first of the next."""


class TimelineFigures(Model):
    """Times in microseconds, virtual ones on the simulated device."""

    makespan_us: Microseconds
    """From the start of the script to the end of its last work on host or device."""
    host_us: Microseconds
    """Time in which the host worked and did not wait for the device."""
    streams: tuple[StreamLine, ...]
    """In the order of their first use."""
    device_idle_us: Microseconds
    """Time of the makespan in which nothing ran on the device."""
    overlap_us: Microseconds
    """Time in which work of two streams or more ran at once."""
    launches: Count
    """By the host; a graph's replay is one."""
    kernels: Count
    """That ran, those of replayed graphs included."""
    copies: Count
    """Between host and device."""
    step: StepFigures | None
    """The repeating part of the script, where one can be told."""
    limit: Literal["host", "waits", "device"] | None
    """What the script's speed depends on, where the figures bear it: what the host does, its waits, or the device."""


class MemoryLine(Model):
    """Device memory that one line held at the peak."""

    file: str
    """Relative to the working directory where it lies below it."""
    line: Count
    """From 1; 0 where no line of the user's could be told."""
    bytes: Count


class MemoryFigures(Model):
    """Device memory at its peak."""

    peak_allocated_bytes: Count
    """Highest `torch.cuda.memory_allocated()`."""
    peak_reserved_bytes: Count
    """Highest `torch.cuda.memory_reserved()`."""
    by_site: tuple[MemoryLine, ...]
    """Who held the memory at the peak of what was allocated, the most first."""


class ScriptError(Model):
    """How the script ended, when it did not end well by itself."""

    kind: Literal["syntax", "exception", "exit", "signal", "interrupted", "lost"]
    """`lost`: it ended the process in a way that let nothing be reported."""
    type: str
    """Name of the exception or signal."""
    message: str
    file: str | None = None
    """Where in the user's code, if it is known."""
    line: Count | None = None


class Inspection(Model):
    """What a script made the device do."""

    schema_version: Literal[1] = SCHEMA_VERSION
    device: Literal["cuda", "sim"]
    """A real GPU, or the simulated one."""
    syncs: tuple[SyncLine, ...]
    """By file and line."""
    races: tuple[RaceLine, ...]
    """In the order in which they were found."""
    timeline: TimelineFigures
    memory: MemoryFigures
    error: ScriptError | None = None
