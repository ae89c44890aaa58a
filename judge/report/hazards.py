"""Races: both accesses with their lines, the order that is missing, and how to mend it."""

from __future__ import annotations

from collections.abc import Sequence

from judge.instruments.observation import Race, Touch
from judge.report.ink import Ink
from judge.report.page import Page
from judge.report.phrases import add_place, tell

KINDS = (
    "read_after_write",
    "write_after_read",
    "write_after_write",
    "reused_block",
    "unordered_block",
    "host_read_early",
    "host_write_early",
    "stale_graph_input",
)
VALUES = ("input", "output", "memory")
"""Whose value a second look shows."""
MAX_RACES = 20
HOST = "host"


def add_races(page: Page, races: Sequence[Race]) -> None:
    """Write the races in the order in which they were found."""
    if not races:
        return
    page.heading(tell(page.ink, "races_heading", count=len(races)))
    shown = races if page.is_verbose else races[:MAX_RACES]
    for race in shown:
        _add_race(page, race)
    if len(races) > len(shown):
        page.add(tell(page.ink, "more_races", count=len(races) - len(shown)), style="dim", indent=2)


def _add_race(page: Page, race: Race) -> None:
    ink = page.ink
    page.gap()
    page.add(_name_kind(ink, race.kind), lead=f"{ink.glyph('failed')} ", lead_style="red", style="bold")
    _add_side(page, "first", race.first)
    _add_side(page, "second", race.second)
    page.add(ink.clean(race.missing[ink.language]), indent=4, lead=tell(ink, "missing"), lead_style="red")
    page.add(ink.clean(race.advice[ink.language]), indent=4, lead=tell(ink, "advice"), lead_style="green")
    for look in race.looks:
        values = {"op": ink.line(look.op), "saw": ink.line(look.saw), "could": ink.line(look.could)}
        name = look.what if look.what in VALUES else "memory"
        page.add(tell(ink, f"look_{name}", element=look.element, **values), indent=4)


def _name_kind(ink: Ink, kind: str) -> str:
    name = kind.replace("-", "_")
    return tell(ink, f"race_kind_{name}") if name in KINDS else ink.line(kind)


def _add_side(page: Page, which: str, touch: Touch) -> None:
    ink = page.ink
    add_place(page, touch.site.file, touch.site.line, lead="  ")
    figures = {"which": tell(ink, which), "op": ink.line(touch.op), "stream": ink.line(touch.stream)}
    if touch.stream == HOST:
        name = "race_side_host"
    elif touch.variable is None or touch.variable == touch.stream:
        name = "race_side"
    else:
        name, figures["variable"] = "race_side_named", ink.line(touch.variable)
    page.add(tell(ink, name, **figures), style="dim", indent=6)
