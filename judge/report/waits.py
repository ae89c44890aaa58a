"""Where the host waited for the device, line by line."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass, field

from judge.instruments.observation import Sync
from judge.locale import say
from judge.report.ink import Ink
from judge.report.page import Page
from judge.report.replacements import find_replacement

MAX_LINES = 20
"""Lines that are shown in full."""


@dataclass
class WaitingLine:
    """All waits of one sort in one line."""

    example: Sync
    count: int = 0
    waited_us: float = 0.0
    streams: set[str] = field(default_factory=set)


def add_syncs(page: Page, syncs: Sequence[Sync]) -> None:
    """Write the waits, those that took longest first, each with its line and what to write instead."""
    if not syncs:
        return
    lines = _gather(syncs)
    total_us = sum(line.waited_us for line in lines)
    places = len({(line.example.site.file, line.example.site.line) for line in lines})
    page.heading(tell(page.ink, "syncs_heading", count=len(syncs), lines=places, time=format_us(total_us)))
    shown = lines if page.is_verbose else lines[:MAX_LINES]
    told: set[str] = set()
    for line in shown:
        _add_line(page, line, told)
    if len(lines) > len(shown):
        page.add(tell(page.ink, "more_lines", count=len(lines) - len(shown)), style="dim", indent=2)


def _gather(syncs: Sequence[Sync]) -> list[WaitingLine]:
    lines: dict[tuple[str, int, str, str], WaitingLine] = {}
    for sync in syncs:
        line = lines.setdefault((sync.site.file, sync.site.line, sync.kind, sync.call), WaitingLine(sync))
        line.count += 1
        line.waited_us += sync.waited_us
        line.streams.add(sync.stream)
    return sorted(lines.values(), key=lambda line: (-line.waited_us, -line.count))


def _add_line(page: Page, line: WaitingLine, told: set[str]) -> None:
    ink, sync = page.ink, line.example
    page.gap()
    add_place(page, sync.site.file, sync.site.line)
    named = sorted(line.streams - {""})
    streams = tell(ink, "for_stream", stream=", ".join(map(ink.line, named))) if named else tell(ink, "for_device")
    figures = {"call": ink.line(sync.call), "time": format_us(line.waited_us), "stream": streams}
    if line.count == 1:
        page.add(tell(ink, "sync_line_once", **figures), indent=4)
    else:
        page.add(tell(ink, "sync_line", count=line.count, **figures), indent=4)
    if not sync.is_seen_by_debug_mode:
        page.add(tell(ink, "missed_by_debug_mode"), style="dim", indent=4)
    instead = find_replacement(sync.kind, sync.call)
    if instead is not None and instead["en"] not in told:
        told.add(instead["en"])
        page.add(tell(ink, "instead", text=instead[ink.language]), style="green", indent=4)


def add_place(page: Page, file: str, number: int, lead: str = "") -> None:
    """Write a line of code: where it stands, and its text."""
    ink = page.ink
    code = ink.line(linecache.getline(file, number)) if number else ""
    place = f"{ink.path(file)}:{number}" if number else ink.path(file)
    page.add_cropped(f"{lead}{place}  {code}".rstrip(), style="bold", indent=2)


def format_us(microseconds: float) -> str:
    """Return a time with a unit that suits it."""
    for limit, unit in ((1e3, "us"), (1e6, "ms")):
        if microseconds < limit:
            return f"{microseconds / (limit / 1e3):.3g} {unit}"
    return f"{microseconds / 1e6:.3g} s"


def tell(ink: Ink, message: str, /, **values: object) -> str:
    """Return a message of the domain ``inspection``; the values are expected to be clean."""
    return say(f"inspection.{message}", ink.language, **values)
