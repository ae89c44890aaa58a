"""A check's report on a terminal: what is wrong, problem by problem, and which mutants live."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from judge.author.findings import CheckReport, Finding, ProblemReport, Survivor
from judge.author.survivors import quote
from judge.locale import say
from judge.report.ink import Ink
from judge.report.page import Page

MAX_WIDTH = 110
"""Columns that are used of a wide terminal."""
MAX_SURVIVORS = 10
"""Unexplained survivors that are shown with their diff; ``verbose`` shows all."""
SURVIVOR_RULES = ("survivor", "survivor_removed")
"""Findings that are shown as diffs."""


def render_check(report: CheckReport, console: Console, language: str, *, verbose: bool = False) -> None:
    """Print the report.

    Args:
        report: what is shown.
        console: where; its width, colours and encoding are kept to.
        language: ``"en"`` or ``"zh"``; English where the encoding has no Chinese.
        verbose: show every survivor with its diff, the explained ones too.
    """
    page = _CheckPage(Ink(language, console.encoding), min(console.width, MAX_WIDTH), verbose)
    for problem in report.problems:
        page.add_problem(problem)
    for finding in report.findings:
        page.add_finding(finding)
    for fault in report.broken:
        page.gap()
        page.add(page.ink.line(fault), lead=f"{page.ink.glyph('failed')} ", lead_style="red")
    page.add_end(report)
    for line in page.lines:
        console.print(line, soft_wrap=True, highlight=False, markup=False, emoji=False)


class _CheckPage(Page):
    """The page in the making."""

    def say(self, name: str, **values: object) -> str:
        return say(f"author.{name}", self.ink.language, **values)

    def add_problem(self, report: ProblemReport) -> None:
        self._add_headline(report)
        for finding in report.findings:
            if finding.rule not in SURVIVOR_RULES:
                self.add_finding(finding)
        self._add_survivors(report)
        self.gap()
        for reason in report.unproven:
            self.add(self.ink.read(reason), lead=f"{self.ink.glyph('skipped')} ", lead_style="yellow")
        self._add_tried(report)

    def _add_headline(self, report: ProblemReport) -> None:
        title = self.ink.line(f"{report.problem.number} {report.problem.title.in_language(self.ink.language)}")
        if report.findings:
            state, style = self.say("state_findings", count=len(report.findings)), "red"
            sign = self.ink.glyph("failed")
        elif report.unproven:
            state, style, sign = self.say("state_unproven"), "yellow", self.ink.glyph("skipped")
        else:
            state, style, sign = self.say("state_green"), "green", self.ink.glyph("passed")
        room = self.width - cell_len(title) - cell_len(f"{sign} {state}")
        self.gap()
        if room >= 2:
            self.add_line(Text(title, "bold").append(" " * room).append(f"{sign} {state}", f"bold {style}"))
        else:
            self.add(title, style="bold")
            self.add(f"{sign} {state}", style=f"bold {style}")
        self.rule()

    def add_finding(self, finding: Finding) -> None:
        """Write the place, what is wrong, and what to do."""
        self.gap()
        lead = f"{self.ink.glyph('failed')} "
        self.add(self.ink.line(finding.place), style="bold", lead=lead, lead_style="red")
        self.add(self.ink.read(finding.what), indent=2)
        self.add(self.ink.read(finding.remedy), style="dim", indent=2)

    def _add_survivors(self, report: ProblemReport) -> None:
        survivors = report.mutation.survivors if report.mutation else ()
        unexplained = [survivor for survivor in survivors if survivor.why is None]
        shown = unexplained if self.is_verbose else unexplained[:MAX_SURVIVORS]
        findings = [finding for finding in report.findings if finding.rule in SURVIVOR_RULES]
        for survivor, finding in zip(shown, findings, strict=False):
            self.add_finding(finding)
            self._add_diff(survivor)
            self._add_form(survivor)
        if len(unexplained) > len(shown):
            self.gap()
            self.add(self.say("more_survivors", count=len(unexplained) - len(shown)), indent=2, style="dim")
        for survivor in survivors:
            if survivor.why is not None:
                self._add_explained(survivor)

    def _add_diff(self, survivor: Survivor) -> None:
        styles = {"+": "green", "-": "red", "@": "cyan"}
        for line in survivor.diff.splitlines()[2:]:
            self.add_cropped(self.ink.clean(line), style=styles.get(line[:1], ""), indent=4)

    def _add_form(self, survivor: Survivor) -> None:
        """Write what the author may paste into ``survivors.toml``, never cut."""
        self.gap()
        self.add_line(Text("    [[survivor]]", "dim"))
        for key, value in (("where", survivor.where), ("before", survivor.before), ("after", survivor.after)):
            self.add_line(Text(f"    {key} = {self.ink.clean(quote(value))}", "dim"))

    def _add_explained(self, survivor: Survivor) -> None:
        self.gap()
        place = self.say("explained", where=survivor.where, line=survivor.line)
        self.add(self.ink.line(place), lead=f"{self.ink.glyph('dot')} ")
        if self.is_verbose:
            self._add_diff(survivor)
        else:
            self.add_cropped(self.ink.clean(f"- {survivor.before}"), style="red", indent=4)
            self.add_cropped(self.ink.clean(f"+ {survivor.after}"), style="green", indent=4)
        if survivor.why is not None:
            self.add(self.ink.read(survivor.why), style="dim", indent=2)

    def _add_tried(self, report: ProblemReport) -> None:
        """Write how much was tried: green says little where nothing was."""
        if report.tests:
            counts = {"tests": report.tests, "wrong": report.wrong, "trivial": report.trivial}
            self.add(self.say("tried", **counts, wall_s=f"{report.wall_s:.0f}"), style="dim")
        if report.untried:
            self.add(self.ink.read(report.untried), style="dim")
        mutation = report.mutation
        if mutation is not None:
            share = f"{mutation.share:.0%}"
            tried = self.say("tried_mutants", killed=mutation.killed, judged=mutation.judged, share=share)
            self.add(tried, style="dim")

    def add_end(self, report: CheckReport) -> None:
        """Write the sum over all problems."""
        if len(report.problems) + len(report.broken) < 2 and not report.findings:
            return
        green = sum(not one.findings for one in report.problems)
        self.gap()
        self.add(self.say("sum", green=green, count=len(report.problems) + len(report.broken)), style="bold")
