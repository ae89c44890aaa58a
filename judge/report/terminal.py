"""A verdict on a terminal: the headline, the first failure in full, the rest in short."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from judge.models.status import Status
from judge.models.verdict import Verdict
from judge.report.failure import add_diagnostic, add_output, add_places, add_text
from judge.report.findings import Finding, Findings, sort_findings
from judge.report.ink import Ink, style_of
from judge.report.page import Page
from judge.report.summary import add_conditions, add_next_step, add_not_judged, add_scores, points_of
from judge.report.wrapping import crop

MAX_WIDTH = 110
"""Columns that are used of a wide terminal: longer lines are slow to read."""
MAX_OTHERS = 10
"""Failures that get a line of their own, after the first."""


def render(
    verdict: Verdict,
    console: Console,
    language: str,
    *,
    verbose: bool = False,
    call: str = "judge",
    here: Path | None = None,
) -> None:
    """Print the verdict.

    Args:
        verdict: what is shown.
        console: where; its width, colours and encoding are kept to.
        language: ``"en"`` or ``"zh"``; English where the encoding has no Chinese.
        verbose: show every failure in full, the passed tests by title, and long texts whole.
        call: what the reader types to call the judge, for the commands that the report names.
        here: the reader's working directory, from which paths are shown; by default as they are recorded.
    """
    page = Page(Ink(language, console.encoding, here), min(console.width, MAX_WIDTH), verbose)
    findings = sort_findings(verdict, page.ink)
    _add_headline(page, verdict)
    _add_failures(page, findings, verdict)
    _add_notes(page, findings)
    _add_counts(page, findings)
    add_scores(page, verdict)
    add_not_judged(page, verdict)
    add_conditions(page, verdict)
    add_next_step(page, verdict, call)
    for line in page.lines:
        console.print(line, soft_wrap=True, highlight=False, markup=False, emoji=False)


def _add_headline(page: Page, verdict: Verdict) -> None:
    ink = page.ink
    status = f"{ink.mark(verdict.status)} {ink.say('status_' + verdict.status)}"
    if verdict.total is not None:
        status += f"  {ink.say('points', points=points_of(verdict.total))}"
    title = f"{verdict.problem.number} {ink.line(verdict.problem.title.in_language(ink.language))}"
    style = f"bold {style_of(verdict.status)}"
    room = page.width - cell_len(title) - cell_len(status)
    if room >= 2:
        page.add_line(Text(title, style="bold").append(" " * room).append(status, style))
    else:
        page.add(title, style="bold")
        page.add(status, style=style)
    page.rule()


def _add_failures(page: Page, findings: Findings, verdict: Verdict) -> None:
    is_accepted = verdict.status is Status.ACCEPTED
    in_full = len(findings.failures) if page.is_verbose else int(not is_accepted)
    for finding in findings.failures[:in_full]:
        _add_in_full(page, finding, verdict)
    others = findings.failures[in_full:]
    named = None if is_accepted else _find_namesake(findings, verdict)
    if named in others:
        page.gap()
        page.add(page.ink.say("named_after"), style="bold")
        _add_in_full(page, named, verdict)
        others = tuple(one for one in others if one is not named)
    if not others:
        return
    page.heading(page.ink.say("optional_failed" if is_accepted else "also_failed", count=len(others)))
    groups = [list(group) for _, group in groupby(others, key=lambda finding: finding.function or finding.title)]
    told = ""
    for group in groups[:MAX_OTHERS]:
        told = _add_in_short(page, group[0], len(group), told, is_optional_named=not is_accepted)
    left = sum(map(len, groups[MAX_OTHERS:]))
    if left:
        page.add(page.ink.say("more_failures", count=left), style="dim", indent=2)


def _find_namesake(findings: Findings, verdict: Verdict) -> Finding | None:
    """Return the failure that gave the verdict its name: it need not be the first one."""
    return next((one for one in findings.failures if one.status is verdict.status), None)


def _add_in_full(page: Page, finding: Finding, verdict: Verdict) -> None:
    ink = page.ink
    page.gap()
    lead = ink.mark(finding.status) + " "
    optional = "" if finding.is_required else ink.say("optional")
    page.add(finding.title + optional, style="bold", lead=lead, lead_style=style_of(finding.status))
    if finding.test:
        page.add_cropped(ink.line(finding.test), style="dim", indent=2)
    shown = finding.diagnostics if page.is_verbose else finding.diagnostics[:1]
    for diagnostic in shown:
        add_diagnostic(page, diagnostic, verdict.submission.path)
    if len(finding.diagnostics) > len(shown):
        page.gap()
        page.add(ink.say("more_differences", count=len(finding.diagnostics) - len(shown)), style="dim", indent=2)
    add_places(page, finding.measurements)
    add_output(page, finding.output, finding.output_dropped_bytes)


def _add_in_short(page: Page, finding: Finding, count: int, told: str, *, is_optional_named: bool) -> str:
    """Write the title of a test's failed cases on one line, what broke first on another, and return that.

    What the line before has just ``told`` is not said again.
    """
    ink = page.ink
    cases = _count(ink, count)
    name = finding.bare_title if count > 1 else finding.title
    optional = ink.say("optional") if is_optional_named and not finding.is_required else ""
    tail = cases + optional
    title = crop(name, page.width - 4 - cell_len(tail), ink.glyph("cut"))
    line = Text("  ").append(ink.mark(finding.status) + " ", style_of(finding.status)).append(title + tail)
    page.add_line(line)
    what = ink.read(finding.diagnostics[0].what).partition("\n")[0] if finding.diagnostics else ""
    if what and what != told:
        page.add_cropped(what, style="dim", indent=4)
    return what


def _add_notes(page: Page, findings: Findings) -> None:
    if not findings.notes:
        return
    page.gap()
    for diagnostic in findings.notes:
        place = (
            f"{page.ink.path(diagnostic.frames[-1].file)}:{diagnostic.frames[-1].line}: " if diagnostic.frames else ""
        )
        add_text(page, place + diagnostic.what.in_language(page.ink.language), lead="! ", lead_style="yellow")


def _add_counts(page: Page, findings: Findings) -> None:
    ink = page.ink
    page.gap()
    _add_passed(page, findings)
    for reason, count in findings.skipped:
        text = ink.say("skipped_tests", count=count) + (ink.say("because", reason=reason) if reason else "")
        page.add(text, lead=ink.glyph("skipped") + " ", lead_style="yellow")
    if findings.unrun:
        page.add(ink.say("unrun_tests", count=findings.unrun), lead="- ", lead_style="dim")


def _add_passed(page: Page, findings: Findings) -> None:
    ink, passed = page.ink, findings.passed
    if not passed:
        return
    lead = ink.glyph("passed") + " "
    if page.is_verbose:
        for title, count in passed:
            page.add(title + _count(ink, count), lead=lead, lead_style="green")
    else:
        total = sum(count for _, count in passed)
        page.add(ink.say("passed_tests", count=total), lead=lead, lead_style="green")


def _count(ink: Ink, count: int) -> str:
    """Return how many cases of a test a line stands for."""
    return f" {ink.clean('×')}{count}" if count > 1 else ""
