"""The first lines of an inspection: what its speed depends on, and the one thing to do first."""

from __future__ import annotations

from judge.instruments.limits import find_heaviest, find_idle, find_limit, is_worth_a_graph
from judge.instruments.observation import Observation
from judge.report.ink import Ink
from judge.report.page import Page
from judge.report.phrases import format_us, name_place, tell


def add_conclusion(page: Page, seen: Observation) -> None:
    """Write whether host, waits or device are the limit, with the figures of this run, and what to do first.

    Races come before speed: a program that is wrong need not be fast.
    """
    ink = page.ink
    limit = find_limit(seen)
    if limit is not None:
        page.add(_tell_limit(ink, seen, limit))
    if seen.races:
        page.add(tell(ink, "first_races"), lead=tell(ink, "first_lead"), lead_style="green")
    elif limit is not None and (advice := _advise(ink, seen, limit)):
        page.add(advice, lead=tell(ink, "first_lead"), lead_style="green")


def _tell_limit(ink: Ink, seen: Observation, limit: str) -> str:
    step, timeline = seen.timeline.step, seen.timeline
    if limit == "device":
        busy = 1 - (step.idle if step is not None else find_idle(seen))
        return tell(ink, "limit_device", busy=f"{100 * busy:.0f}")
    if step is None:
        figures = {"host": format_us(timeline.host_us), "busy": format_us(timeline.device_busy_us)}
        return tell(ink, "limit_host_run", launches=timeline.launches, **figures)
    idle = f"{100 * step.idle:.0f}"
    if limit == "waits":
        waited, period = format_us(step.waited_us), format_us(step.period_us)
        return tell(ink, "limit_waits", waited=waited, period=period, idle=idle)
    figures = {"host": format_us(step.host_us), "busy": format_us(step.busy_us), "idle": idle}
    return tell(ink, "limit_host", launches=tell(ink, "n_launches", count=step.launches), **figures)


def _advise(ink: Ink, seen: Observation, limit: str) -> str | None:
    """Return the one thing to do first, ``None`` where the figures name none."""
    step = seen.timeline.step
    if limit == "device":
        heaviest = find_heaviest(seen)
        if heaviest is None:
            return None
        name, site, share = heaviest
        place = name_place(ink, site.file, site.line)
        return tell(ink, "first_heaviest", name=ink.line(name), place=place, share=f"{100 * share:.0f}")
    if step is None:
        return None
    if limit == "waits":
        return tell(ink, "first_waits")
    if not is_worth_a_graph(step):
        return None
    waits = sum(sync.key in seen.repeated and step.is_within(sync.started_us) for sync in seen.syncs)
    # A wait in every tenth step, for a line that is printed, stays outside what is captured.
    return tell(ink, "first_graph_waits" if waits >= step.count else "first_graph")
