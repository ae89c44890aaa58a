"""What ``inspect`` found, on a terminal: the conclusion, waits, races, the timeline, and who held the memory."""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from judge.instruments.intervals import merge
from judge.instruments.observation import Observation, Step
from judge.models.figures import format_figure
from judge.models.inspection import ScriptError
from judge.report.chart import Row, add_chart, add_legend, count_columns
from judge.report.closing import Outcome, add_closing
from judge.report.conclusion import add_conclusion
from judge.report.ends import add_end, name_end
from judge.report.hazards import add_races
from judge.report.ink import Ink
from judge.report.page import Page
from judge.report.phrases import add_place, format_us, name_place, tell
from judge.report.terminal import MAX_WIDTH
from judge.report.waits import add_syncs

MAX_OWNERS = 10
"""Lines that are named as holders of memory."""
LEAST_OWNER = 0.01
"""Share of the peak from which on a holder is worth a line."""


def render(
    seen: Observation,
    error: ScriptError | None,
    console: Console,
    language: str,
    *,
    script: str,
    is_whole: bool,
    outcome: Outcome,
) -> None:
    """Print the report.

    Args:
        seen: what the instruments saw.
        error: how the script ended, if not well.
        console: where; its width, colours and encoding are kept to.
        language: ``"en"`` or ``"zh"``; English where the encoding has no Chinese.
        script: the file, as the user named it.
        is_whole: whether the script's process reported to its end.
        outcome: what became of the options.
    """
    ink = Ink(language, console.encoding, Path.cwd())
    page = Page(ink, min(console.width, MAX_WIDTH))
    _add_headline(page, seen, error, script)
    if error is not None:
        add_end(page, error, is_whole=is_whole)
    if seen.device_name:
        _add_findings(page, seen)
    add_closing(page, outcome, has_failed=error is not None)
    for line in page.lines:
        console.print(line, soft_wrap=True, highlight=False, markup=False, emoji=False)


def _add_findings(page: Page, seen: Observation) -> None:
    add_conclusion(page, seen)
    add_syncs(page, seen)
    add_races(page, seen.races)
    _add_timeline(page, seen)
    _add_memory(page, seen)
    for note in seen.notes:
        page.gap()
        page.add(tell(page.ink, f"note_{note}"), lead="! ", lead_style="yellow")


def _add_headline(page: Page, seen: Observation, error: ScriptError | None, script: str) -> None:
    ink = page.ink
    status, style = _name_status(ink, seen, error)
    name = ink.line(seen.device_name.removeprefix("NVIDIA "))
    device = tell(ink, f"device_{seen.device}", device=name) if name else ""
    title = f"{ink.line(script)}  {device}".rstrip()
    page.gap()
    room = page.width - cell_len(title) - cell_len(status)
    if room >= 2:
        page.add_line(Text(title, style="bold").append(" " * room).append(status, style))
    else:
        page.add(title, style="bold")
        page.add(status, style=style)
    page.rule()


def _name_status(ink: Ink, seen: Observation, error: ScriptError | None) -> tuple[str, str]:
    """Return what was found in a few words, and their style. Waits of the set-up are no fault."""
    step = seen.timeline.step
    counted = [s for s in seen.syncs if step is None or (s.key in seen.repeated and step.is_within(s.started_us))]
    found = []
    if counted:
        found.append(tell(ink, "n_waits" if step is None else "n_step_waits", count=len(counted)))
    if seen.races:
        found.append(tell(ink, "n_races", count=len(seen.races)))
    if error is not None:
        found.append(name_end(ink, error))
    if found:
        return f"{ink.glyph('failed')} {tell(ink, 'comma').join(found)}", "bold red"
    if not seen.spans and not seen.syncs:
        # No ✓ for a file of functions that nobody called.
        return f"{ink.glyph('skipped')} {tell(ink, 'nothing_seen')}", "bold yellow"
    return f"{ink.glyph('passed')} {tell(ink, 'clean_steps' if seen.syncs else 'clean')}", "bold green"


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
    add_legend(page)
    _add_figures(page, seen)
    page.add(tell(ink, f"time_{seen.device}"), style="dim", indent=2)


def _add_figures(page: Page, seen: Observation) -> None:
    """Write idle time, overlap, launches and the steps."""
    ink, timeline = page.ink, seen.timeline
    parts = [tell(ink, "idle", idle=f"{100 * timeline.idle:.0f}")]
    if len(timeline.streams) > 1:
        parts.append(tell(ink, "overlap", overlap=f"{100 * timeline.overlap:.0f}"))
    parts.append(tell(ink, "host_at_work", host=format_us(timeline.host_us)))
    page.add(tell(ink, "comma").join(parts), indent=2)
    counts = [tell(ink, "n_launches", count=timeline.launches), tell(ink, "n_kernels", count=timeline.kernels)]
    if timeline.copies:
        counts.append(tell(ink, "n_copies", count=timeline.copies))
    page.add(tell(ink, "run_counts", counts=tell(ink, "comma").join(counts)), indent=2)
    if timeline.step is not None:
        _add_step(page, timeline.step)


def _add_step(page: Page, step: Step) -> None:
    ink = page.ink
    counts = [tell(ink, "n_launches", count=step.launches), tell(ink, "n_kernels", count=step.kernels)]
    if step.works > step.kernels:
        counts.append(tell(ink, "n_copies", count=step.works - step.kernels))
    place = name_place(ink, step.site.file, step.site.line)
    page.add(tell(ink, "step", count=step.count, place=place, counts=tell(ink, "comma").join(counts)), indent=2)
    period_us = max(step.period_us, step.turnaround_us)
    figures = {"period": period_us, "host": step.host_us, "waited": step.waited_us, "busy": step.busy_us}
    page.add(tell(ink, "step_times", **{name: format_us(value) for name, value in figures.items()}), indent=2)


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
        "allocated": format_figure(seen.peak_allocated_bytes, "B"),
        "reserved": format_figure(seen.peak_reserved_bytes, "B"),
    }
    page.heading(tell(ink, "memory_heading", **figures))
    least = LEAST_OWNER * seen.peak_allocated_bytes
    for owner in [owner for owner in seen.by_site if owner.size_bytes >= least][:MAX_OWNERS]:
        size = format_figure(owner.size_bytes, "B")
        add_place(page, owner.site.file, owner.site.line, lead=f"{size:>10}  ")
