"""From what was seen to what is published: lines counted, files named as the user knows them."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import judge
from judge.inspection.process import Ran
from judge.instruments.limits import find_limit
from judge.instruments.observation import Observation, Race, Step, Sync, Touch
from judge.models.inspection import (
    Inspection,
    MemoryFigures,
    MemoryLine,
    RaceLine,
    RaceSide,
    ScriptError,
    StepFigures,
    StreamLine,
    SyncLine,
    TimelineFigures,
)

CRASHED_THREAD = re.compile(r"^(?:Current thread|Stack) .*?:\n(.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
"""The part of faulthandler's output that tells of the thread that crashed."""
STACK_LINE = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d+) in ', re.MULTILINE)
OWN_FOLDER = str(Path(judge.__file__).parent) + os.sep
LIBRARY_FOLDER = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120  (text is compared)
DIGITS = 3
"""Decimals of a microsecond that are published."""


def sum_up(seen: Observation, error: ScriptError | None) -> Inspection:
    """Return the published form of an observation."""
    timeline = seen.timeline
    return Inspection(
        device=seen.device,
        syncs=_count_syncs(seen),
        races=tuple(_write_race(race) for race in seen.races),
        timeline=TimelineFigures(
            makespan_us=round(timeline.makespan_us, DIGITS),
            host_us=round(timeline.host_us, DIGITS),
            streams=tuple(StreamLine(name=one.name, busy_us=round(one.busy_us, DIGITS)) for one in timeline.streams),
            device_idle_us=round(timeline.device_idle_us, DIGITS),
            overlap_us=round(timeline.overlap_us, DIGITS),
            launches=timeline.launches,
            kernels=timeline.kernels,
            copies=timeline.copies,
            step=_write_step(timeline.step) if timeline.step is not None else None,
            limit=find_limit(seen),
        ),
        memory=MemoryFigures(
            peak_allocated_bytes=seen.peak_allocated_bytes,
            peak_reserved_bytes=seen.peak_reserved_bytes,
            by_site=tuple(
                MemoryLine(file=name_file(owner.site.file), line=owner.site.line, bytes=owner.size_bytes)
                for owner in seen.by_site
            ),
        ),
        error=error,
    )


def find_error(ran: Ran) -> ScriptError | None:
    """Return how the script ended if not well, by its own word or, where it had none, by what was seen outside."""
    error = ran.reader.error
    if error is None and ran.status < 0:
        error = _tell_signal(ran)
    elif error is None and not ran.reader.is_whole:
        error = ScriptError(kind="lost", type="exit", message=str(ran.status))
    elif error is not None and error.type == "SIGTERM" and not ran.is_terminated:
        # Sent to the script alone: nobody has asked us for an end.
        error = error.model_copy(update={"kind": "signal"})
    if error is None or error.file is None:
        return error
    return error.model_copy(update={"file": name_file(error.file)})


def _tell_signal(ran: Ran) -> ScriptError:
    number = -ran.status
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    file, line = _read_stack(ran.stack)
    is_interrupted = ran.interrupts > 0 and number in (signal.SIGINT, signal.SIGKILL)
    if ran.is_terminated and number in (signal.SIGTERM, signal.SIGKILL):
        is_interrupted, name = True, "SIGTERM"
    kind: Literal["interrupted", "signal"] = "interrupted" if is_interrupted else "signal"
    return ScriptError(kind=kind, type=name, message="", file=file, line=line)


def name_file(path: str) -> str:
    """Return a path relative to the working directory where it lies below it."""
    here = os.getcwd() + os.sep  # noqa: PTH109  (text is compared)
    return path[len(here) :] if path.startswith(here) else path


def _write_step(step: Step) -> StepFigures:
    return StepFigures(
        count=step.count,
        file=name_file(step.site.file),
        line=step.site.line,
        launches=step.launches,
        kernels=step.kernels,
        period_us=round(step.period_us, DIGITS),
        host_us=round(step.host_us, DIGITS),
        waited_us=round(step.waited_us, DIGITS),
        busy_us=round(step.busy_us, DIGITS),
        turnaround_us=round(step.turnaround_us, DIGITS),
    )


def _count_syncs(seen: Observation) -> tuple[SyncLine, ...]:
    groups: dict[tuple[str, int, str, str, str], list[Sync]] = {}
    for sync in seen.syncs:
        place = (name_file(sync.site.file), sync.site.line)
        groups.setdefault((*place, sync.kind, sync.call, sync.stream), []).append(sync)
    return tuple(
        SyncLine(
            kind=kind,
            call=call,
            file=file,
            line=line,
            count=len(group),
            stream=stream,
            waited_us=round(sum(sync.waited_us for sync in group), DIGITS),
            per_step=_find_rate(seen, group),
        )
        for (file, line, kind, call, stream), group in sorted(groups.items())
    )


def _find_rate(seen: Observation, group: Sequence[Sync]) -> float | None:
    """Return how often waits take place in one step, ``None`` if they belong to no step."""
    step = seen.timeline.step
    if step is None or group[0].key not in seen.repeated:
        return None
    return sum(step.is_within(sync.started_us) for sync in group) / step.count


def _write_race(race: Race) -> RaceLine:
    return RaceLine(
        kind=race.kind,
        first=_write_side(race.first),
        second=_write_side(race.second),
        missing=race.missing["en"],
        advice=race.advice["en"],
    )


def _write_side(touch: Touch) -> RaceSide:
    return RaceSide(
        op=touch.op,
        file=name_file(touch.site.file),
        line=touch.site.line,
        stream=touch.stream,
        variable=touch.variable,
    )


def _read_stack(stack: str) -> tuple[str | None, int | None]:
    """Return the innermost user line of a stack that faulthandler wrote, most recent call first."""
    crashed = CRASHED_THREAD.search(stack)
    for found in STACK_LINE.finditer(crashed[1] if crashed is not None else stack):
        file = found["file"]
        is_library = "/site-packages/" in file or file.startswith(LIBRARY_FOLDER)
        if not file.startswith(("<", OWN_FOLDER)) and not is_library:
            return file, int(found["line"])
    return None, None
