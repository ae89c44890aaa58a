"""Where the host waited for the device, line by line: in every step first, the set-up in short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from judge.instruments.observation import Observation, Step, Sync
from judge.instruments.replacements import find_replacement
from judge.report.ink import Ink
from judge.report.page import Page
from judge.report.phrases import add_place, format_us, name_place, tell

MAX_LINES = 20
"""Lines that are shown in full."""
MAX_SHORT = 6
"""Lines of the set-up that are shown."""


@dataclass
class WaitingLine:
    """All waits of one sort in one line."""

    example: Sync
    count: int = 0
    waited_us: float = 0.0
    streams: set[str] = field(default_factory=set)


def add_syncs(page: Page, seen: Observation) -> None:
    """Write the waits, those that took longest first, each with its line and what to write instead."""
    step = seen.timeline.step
    if step is None:
        _add_lines(page, seen, seen.syncs, None)
        return
    _add_lines(page, seen, [sync for sync in seen.syncs if sync.key in seen.repeated], step)
    _add_set_up(page, [sync for sync in seen.syncs if sync.key not in seen.repeated])


def _add_lines(page: Page, seen: Observation, syncs: Sequence[Sync], step: Step | None) -> None:
    """Write waits in full."""
    if not syncs:
        return
    ink = page.ink
    # What a line cost before and after the steps is not part of what it costs in one.
    counted = syncs if step is None else [sync for sync in syncs if step.is_within(sync.started_us)]
    lines = _gather(counted)
    places = tell(ink, "n_lines", count=len({(line.example.site.file, line.example.site.line) for line in lines}))
    total_us = sum(line.waited_us for line in lines)
    if step is None:
        page.heading(tell(ink, "syncs_heading", count=len(counted), lines=places, time=format_us(total_us)))
    else:
        times = {"time": format_us(total_us / step.count), "period": format_us(max(step.period_us, step.turnaround_us))}
        page.heading(tell(ink, "step_syncs_heading", count=len(counted), lines=places, **times))
    shown = lines if page.is_verbose else lines[:MAX_LINES]
    told: set[str] = set()
    for line in shown:
        _add_line(page, line, told, step, names_stream=len(seen.timeline.streams) > 1)
    _add_rest(page, len(lines) - len(shown))


def _add_line(page: Page, line: WaitingLine, told: set[str], step: Step | None, *, names_stream: bool) -> None:
    ink, sync = page.ink, line.example
    page.gap()
    add_place(page, sync.site.file, sync.site.line)
    named = sorted(line.streams - {""})
    target = "" if named else tell(ink, "for_device")
    if named and names_stream:
        target = tell(ink, "for_stream", stream=", ".join(map(ink.line, named)))
    call = ink.line(sync.call)
    if step is None:
        often = tell(ink, "n_times", count=line.count)
        page.add(
            tell(ink, "sync_line", call=call, often=often, time=format_us(line.waited_us), target=target), indent=4
        )
    else:
        figures = {"often": _tell_rate(ink, line.count / step.count), "time": format_us(line.waited_us / step.count)}
        page.add(tell(ink, "step_sync_line", call=call, target=target, **figures), indent=4)
    if not sync.is_seen_by_debug_mode:
        page.add(tell(ink, "missed_by_debug_mode"), style="dim", indent=4)
    instead = find_replacement(sync.kind, sync.call)
    if instead is not None and instead["en"] not in told:
        told.add(instead["en"])
        page.add(tell(ink, "instead", text=instead[ink.language]), style="green", indent=4)


def _tell_rate(ink: Ink, rate: float) -> str:
    """Return how often something takes place in the steps."""
    if rate < 0.95:
        return tell(ink, "every_n_steps", count=f"{1 / rate:.3g}")
    return tell(ink, "once_a_step") if rate < 1.05 else tell(ink, "n_times_a_step", count=f"{rate:.3g}")


def _add_set_up(page: Page, syncs: Sequence[Sync]) -> None:
    """Write the waits outside the steps, a short line each: nothing has to be done about them."""
    if not syncs:
        return
    ink = page.ink
    lines = _gather(syncs)
    time = format_us(sum(line.waited_us for line in lines))
    page.heading(tell(ink, "set_up_heading", waits=tell(ink, "n_waits", count=len(syncs)), time=time))
    shown = lines if page.is_verbose else lines[:MAX_SHORT]
    for line in shown:
        figures = {"call": ink.line(line.example.call), "often": tell(ink, "n_times", count=line.count)}
        text = tell(ink, "set_up_line", time=format_us(line.waited_us), **figures)
        page.add_cropped(f"{name_place(ink, line.example.site.file, line.example.site.line)}  {text}", indent=2)
    _add_rest(page, len(lines) - len(shown))


def _add_rest(page: Page, count: int) -> None:
    if count:
        page.add(tell(page.ink, "more_lines", count=count), style="dim", indent=2)


def _gather(syncs: Sequence[Sync]) -> list[WaitingLine]:
    lines: dict[tuple[str, int, str, str], WaitingLine] = {}
    for sync in syncs:
        line = lines.setdefault((sync.site.file, sync.site.line, sync.kind, sync.call), WaitingLine(sync))
        line.count += 1
        line.waited_us += sync.waited_us
        line.streams.add(sync.stream)
    return sorted(lines.values(), key=lambda line: (-line.waited_us, -line.count))
