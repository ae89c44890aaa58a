"""What follows the failures: scores, what was not judged, the conditions, and the next step."""

from __future__ import annotations

import math

from rich.cells import cell_len
from rich.text import Text

from judge.models.conditions import Isolation
from judge.models.figures import format_figure
from judge.models.status import Status
from judge.models.verdict import Score, Verdict
from judge.report.ink import Ink
from judge.report.page import Page

INDENT = 2
COLUMNS = ("score", "measured", "budget", "points")


def points_of(share: float) -> int:
    """Return 0 to 1 as whole points of 100, rounded down, so that 100 means all of them."""
    return math.floor(share * 100 + 1e-9)


def add_scores(page: Page, verdict: Verdict) -> None:
    """Write the table of the scores that apply to the problem, and why one was not judged."""
    scores = [score for score in verdict.scores if score.weight > 0]
    if not any(score.is_judged for score in scores):
        return
    ink = page.ink
    header = [ink.say(f"column_{name}") for name in COLUMNS]
    rows = [[ink.say(f"score_{score.name}"), *_figures(ink, score)] for score in scores]
    widths = [max(cell_len(row[at]) for row in (header, *rows)) for at in range(len(COLUMNS))]
    page.gap()
    page.add_line(_row(header, widths).copy())
    page.lines[-1].stylize("dim")
    for score, row in zip(scores, rows, strict=True):
        line = _row(row, widths)
        if not score.is_judged:
            line.stylize("dim")
        page.add_line(line)
        if score.note:
            page.add(ink.read(score.note), style="dim", indent=INDENT + 2)


def _figures(ink: Ink, score: Score) -> list[str]:
    points = "-" if score.points is None else str(points_of(score.points))
    if not score.is_judged:
        points = ink.say("not_judged_short")
    if score.name == "correctness" and score.is_judged:
        passed = ink.say("of_all", passed=format_figure(score.measured, ""), all=format_figure(score.budget, ""))
        return [passed, "-", points]
    unit = "" if score.name == "syncs" else score.unit  # the row says what is counted
    return [ink.line(format_figure(score.measured, unit)), ink.line(format_figure(score.budget, unit)), points]


def _row(cells: list[str], widths: list[int]) -> Text:
    first = cells[0] + " " * (widths[0] - cell_len(cells[0]))
    others = [" " * (width - cell_len(cell)) + cell for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return Text(" " * INDENT + "   ".join([first, *others]))


def add_not_judged(page: Page, verdict: Verdict) -> None:
    """Write what the verdict does not speak about."""
    if not verdict.not_judged:
        return
    page.heading(page.ink.say("not_judged_heading"))
    for text in verdict.not_judged:
        page.add(page.ink.read(text), indent=INDENT, lead=page.ink.glyph("dot") + " ")


def add_conditions(page: Page, verdict: Verdict) -> None:
    """Write device, isolation, time and seed: under what conditions this was judged, and how to repeat it."""
    ink = page.ink
    page.gap()
    device = ink.say("ran_on", device=ink.say(f"device_{verdict.device.kind}"), why=ink.read(verdict.device.why))
    seed = ink.say("repeat", seed=verdict.seed, seconds=f"{verdict.wall_s:.1f}")
    _add_condition(page, "device", device)
    _add_isolation(page, verdict.isolation)
    if page.is_verbose and verdict.versions:
        versions = (f"{ink.line(name)} {ink.line(version)}" for name, version in verdict.versions.items())
        _add_condition(page, "versions", ink.say("comma").join(versions))
    _add_condition(page, "seed", seed)


def _add_condition(page: Page, label: str, text: str) -> None:
    width = max(cell_len(page.ink.say(name)) for name in ("device", "isolation", "seed"))
    lead = page.ink.say(label)
    lead += " " * (width + 2 - cell_len(lead))
    page.add(text, style="dim", lead=lead, lead_style="dim")


def _add_isolation(page: Page, isolation: Isolation) -> None:
    """Write the isolation in one line; in full, each protection too."""
    ink = page.ink
    text = ink.say("isolation_level", level=isolation.level, count=len(isolation.enforced))
    if isolation.missing:
        missing = ink.say("comma").join(ink.read(one.what) for one in isolation.missing)
        text += ink.say("isolation_missing", missing=missing)
    _add_condition(page, "isolation", text)
    if not page.is_verbose:
        return
    for protection in isolation.enforced:
        page.add(ink.read(protection), style="dim", indent=INDENT, lead="+ ", lead_style="dim")
    for one in isolation.missing:
        fix = f" {ink.read(one.fix)}" if one.fix else ""
        text = f"{ink.read(one.what)}: {ink.read(one.why)}{fix}"
        page.add(text, style="dim", indent=INDENT, lead="- ", lead_style="dim")


def add_next_step(page: Page, verdict: Verdict, call: str) -> None:
    """Write the one thing to do next; ``call`` is what the reader types to call the judge."""
    number = verdict.problem.number
    if verdict.status is Status.ACCEPTED:
        page.gap()
        has_all = verdict.total is None or points_of(verdict.total) >= 100
        page.add(page.ink.say("congratulation" if has_all else "accepted_in_part"), style="bold green")
        _add_commands(page, "next_solution", f"{call} solution {number}")
    elif verdict.status is Status.JUDGE_ERROR:
        page.gap()
        page.add(page.ink.say("not_your_fault"))
    elif verdict.status is not Status.NOT_JUDGED:
        page.gap()
        _add_commands(page, "next_hint", f"{call} show {number}", f"{call} hint {number}")


def _add_commands(page: Page, heading: str, *commands: str) -> None:
    """Write commands to paste, each on a line that is not broken however long it is."""
    page.add(page.ink.say(heading))
    for command in commands:
        page.add_line(Text(" " * INDENT).append(page.ink.clean(command), "cyan"))
