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
MAX_PASSED = 30
"""Passed tests that are listed by title, the cases of one in one line."""


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
    _add_counts(page, findings, verdict)
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
    if not others:
        return
    _name_status(page, findings, verdict)
    page.heading(page.ink.say("optional_failed" if is_accepted else "also_failed", count=len(others)))
    groups = [list(group) for _, group in groupby(others, key=lambda finding: finding.function or finding.title)]
    for group in groups[:MAX_OTHERS]:
        _add_in_short(page, group[0], len(group), is_optional_named=not is_accepted)
    left = sum(map(len, groups[MAX_OTHERS:]))
    if left:
        page.add(page.ink.say("more_failures", count=left), style="dim", indent=2)


def _name_status(page: Page, findings: Findings, verdict: Verdict) -> None:
    """Say which failure gave the verdict its name, where it is not the first one."""
    named = next((one for one in findings.failures if one.status is verdict.status), None)
    if named is not None and named is not findings.failures[0]:
        page.gap()
        page.add(page.ink.say("named_after", test=page.ink.line(named.test)), style="dim")


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


def _add_in_short(page: Page, finding: Finding, count: int, *, is_optional_named: bool) -> None:
    """Write one line for a test's failed cases: the title and what broke first, in a third of the width or more."""
    ink = page.ink
    cases = _count(ink, count)
    name = finding.bare_title if count > 1 else finding.title
    optional = ink.say("optional") if is_optional_named and not finding.is_required else ""
    tail = cases + optional
    what = ink.line(finding.diagnostics[0].what.in_language(ink.language)) if finding.diagnostics else ""
    room = page.width - 4 - cell_len(tail)
    title_room = room - min(cell_len(what), room // 3) - 2 if what else room
    title = crop(name, title_room, ink.glyph("cut"))
    line = Text("  ").append(ink.mark(finding.status) + " ", style_of(finding.status)).append(title + tail)
    rest = crop(what, room - cell_len(title) - 2, ink.glyph("cut"))
    page.add_line(line.append(f"  {rest}".rstrip(), "dim"))


def _add_notes(page: Page, findings: Findings) -> None:
    if not findings.notes:
        return
    page.gap()
    for diagnostic in findings.notes:
        place = (
            f"{page.ink.path(diagnostic.frames[-1].file)}:{diagnostic.frames[-1].line}: " if diagnostic.frames else ""
        )
        add_text(page, place + diagnostic.what.in_language(page.ink.language), lead="! ", lead_style="yellow")


def _add_counts(page: Page, findings: Findings, verdict: Verdict) -> None:
    ink = page.ink
    page.gap()
    _add_passed(page, findings, verdict)
    for reason, count in findings.skipped:
        text = ink.say("skipped_tests", count=count) + (ink.say("because", reason=reason) if reason else "")
        page.add(text, lead=ink.glyph("skipped") + " ", lead_style="yellow")
    if findings.unrun:
        page.add(ink.say("unrun_tests", count=findings.unrun), lead="- ", lead_style="dim")


def _add_passed(page: Page, findings: Findings, verdict: Verdict) -> None:
    ink, passed = page.ink, findings.passed
    if not passed:
        return
    lead = ink.glyph("passed") + " "
    if page.is_verbose or verdict.status is Status.ACCEPTED:
        limit = len(passed) if page.is_verbose else MAX_PASSED
        for title, count in passed[:limit]:
            page.add(title + _count(ink, count), lead=lead, lead_style="green")
        left = sum(count for _, count in passed[limit:])
        if left:
            page.add(ink.say("more_passed", count=left), style="dim", indent=2)
    else:
        total = sum(count for _, count in passed)
        page.add(ink.say("passed_tests", count=total), lead=lead, lead_style="green")


def _count(ink: Ink, count: int) -> str:
    """Return how many cases of a test a line stands for."""
    return f" {ink.clean('×')}{count}" if count > 1 else ""
