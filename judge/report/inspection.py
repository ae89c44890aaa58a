"""What ``inspect`` found, on a terminal: waits, races, the timeline, and who held the memory."""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from judge.instruments.observation import Observation
from judge.instruments.timeline import merge
from judge.models.inspection import ScriptError
from judge.report.chart import Row, add_chart, count_columns
from judge.report.hazards import add_races
from judge.report.ink import Ink
from judge.report.page import Page
from judge.report.summary import format_figure
from judge.report.terminal import MAX_WIDTH
from judge.report.waits import add_place, add_syncs, format_us, tell

MAX_OWNERS = 10
"""Lines that are named as holders of memory."""
LEAST_OWNER = 0.01
"""Share of the peak from which on a holder is worth a line."""


def render(
    seen: Observation, error: ScriptError | None, console: Console, language: str, *, script: str, is_whole: bool
) -> None:
    """Print the report.

    Args:
        seen: what the instruments saw.
        error: how the script ended, if not well.
        console: where; its width, colours and encoding are kept to.
        language: ``"en"`` or ``"zh"``; English where the encoding has no Chinese.
        script: the file, as the user named it.
        is_whole: whether the script's process reported to its end.
    """
    ink = Ink(language, console.encoding, Path.cwd())
    page = Page(ink, min(console.width, MAX_WIDTH))
    _add_headline(page, seen, error, script)
    _add_error(page, error, is_whole=is_whole)
    if seen.device_name:
        add_syncs(page, seen.syncs)
        add_races(page, seen.races)
        _add_timeline(page, seen)
        _add_memory(page, seen)
        for note in seen.notes:
            page.gap()
            page.add(tell(ink, f"note_{note}"), lead="! ", lead_style="yellow")
    for line in page.lines:
        console.print(line, soft_wrap=True, highlight=False, markup=False, emoji=False)


def _add_headline(page: Page, seen: Observation, error: ScriptError | None, script: str) -> None:
    ink = page.ink
    found = []
    if seen.syncs:
        found.append(tell(ink, "found_syncs", count=len(seen.syncs)))
    if seen.races:
        found.append(tell(ink, "found_races", count=len(seen.races)))
    is_clean = not found and error is None
    text = tell(ink, "comma").join(found) if found else tell(ink, "clean")
    status = f"{ink.glyph('passed' if is_clean else 'failed')} {text}" if found or is_clean else ink.glyph("failed")
    name = ink.line(seen.device_name.removeprefix("NVIDIA "))
    device = tell(ink, f"device_{seen.device}", device=name) if name else ""
    title = f"{ink.line(script)}  {device}".rstrip()
    style = "bold green" if is_clean else "bold red"
    page.gap()
    room = page.width - cell_len(title) - cell_len(status)
    if room >= 2:
        page.add_line(Text(title, style="bold").append(" " * room).append(status, style))
    else:
        page.add(title, style="bold")
        page.add(status, style=style)
    page.rule()


def _add_error(page: Page, error: ScriptError | None, *, is_whole: bool) -> None:
    ink = page.ink
    if error is not None:
        first_line = next(iter(error.message.splitlines()), "")
        figures = {"type": ink.line(error.type), "message": ink.line(first_line)}
        is_text = error.kind == "exit" and not error.message.lstrip("-").isdigit()
        name = "exit_text" if is_text else error.kind
        page.add(tell(ink, f"error_{name}", **figures).rstrip(" :："), style="red")
        if error.file is not None:
            add_place(page, error.file, error.line or 0)
        if error.kind == "syntax":
            page.add(tell(ink, "never_ran"), style="dim")
    if not is_whole:
        page.add(tell(ink, "partial"), style="yellow")


def _add_timeline(page: Page, seen: Observation) -> None:
    ink, timeline = page.ink, seen.timeline
    if not seen.spans:
        page.gap()
        page.add(tell(ink, "nothing_ran"), style="dim")
        return
    end_us = seen.started_us + timeline.makespan_us
    # Of a long run whose oldest work was dropped, the part that is known is drawn.
    start_us = seen.spans[0].started_us if seen.dropped_spans else seen.started_us
    figures = {"time": format_us(end_us - start_us), "column": format_us((end_us - start_us) / count_columns(page))}
    if seen.dropped_spans:
        page.heading(tell(ink, "timeline_part", **figures))
    else:
        page.heading(tell(ink, "timeline_heading", **figures))
    add_chart(page, _make_rows(seen, ink), start_us, end_us)
    page.add(
        tell(
            ink,
            "figures",
            idle=f"{100 * timeline.idle:.0f}",
            overlap=f"{100 * timeline.overlap:.0f}",
            host=format_us(timeline.host_us),
            launches=timeline.launches,
        ),
        indent=2,
    )
    if timeline.step is not None:
        step = timeline.step
        place = f"{ink.path(step.site.file)}:{step.site.line}"
        page.add(tell(ink, "step", count=step.count, launches=step.launches, place=place), indent=2)
    if seen.device == "sim":
        page.add(tell(ink, "virtual_time"), style="dim", indent=2)


def _make_rows(seen: Observation, ink: Ink) -> list[Row]:
    waits = merge((sync.started_us, sync.started_us + sync.waited_us) for sync in seen.syncs)
    rows = [Row(tell(ink, "row_waits"), waits, "red")] if waits else []
    for stream in seen.timeline.streams:
        work = [span for span in seen.spans if span.stream == stream.name]
        is_copying = all(span.engine != "sm" for span in work)
        intervals = merge((span.started_us, span.ended_us) for span in work)
        rows.append(Row(stream.name, intervals, "cyan" if is_copying else "green"))
    return rows


def _add_memory(page: Page, seen: Observation) -> None:
    if not seen.peak_allocated_bytes:
        return
    ink = page.ink
    figures = {
        "allocated": format_figure(ink, seen.peak_allocated_bytes, "B"),
        "reserved": format_figure(ink, seen.peak_reserved_bytes, "B"),
    }
    page.heading(tell(ink, "memory_heading", **figures))
    least = LEAST_OWNER * seen.peak_allocated_bytes
    for owner in [owner for owner in seen.by_site if owner.size_bytes >= least][:MAX_OWNERS]:
        size = format_figure(ink, owner.size_bytes, "B")
        add_place(page, owner.site.file, owner.site.line, lead=f"{size:>10}  ")
