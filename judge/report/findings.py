"""What a verdict found, in the order in which a reader wants it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby

from judge.models.record import Diagnostic, DiagnosticKind, Measurement
from judge.models.status import Status
from judge.models.verdict import TestVerdict, Verdict
from judge.report.ink import Ink


@dataclass(frozen=True)
class Finding:
    """One failure: of a test, or of the run as a whole."""

    title: str
    test: str
    """Id of the test; empty for the run as a whole."""
    status: Status
    is_required: bool
    diagnostics: tuple[Diagnostic, ...]
    measurements: tuple[Measurement, ...] = ()
    output: str = ""
    output_dropped_bytes: int = 0

    @property
    def function(self) -> str:
        """Id of the test without its parameters."""
        return self.test.partition("[")[0]

    @property
    def bare_title(self) -> str:
        """The title without the parameters that end it."""
        return self.title.removesuffix(f" {self.test.removeprefix(self.function)}".rstrip())


@dataclass(frozen=True)
class Findings:
    """Everything about the tests, sorted."""

    failures: tuple[Finding, ...]
    """First the run as a whole, then required tests in their order, then optional ones."""
    notes: tuple[Diagnostic, ...]
    """Warnings, and remarks on tests that passed."""
    passed: tuple[tuple[str, int], ...]
    """Titles in order, each with the number of its cases."""
    skipped: tuple[tuple[str, int], ...]
    """Reasons for which tests were not judged, with the number of tests."""
    unrun: int
    """Tests that the run did not get to."""


def sort_findings(verdict: Verdict, ink: Ink) -> Findings:
    """Return the verdict's findings; what failed comes first, whatever the order of the tests."""
    failed = [test for test in verdict.tests if _is_failed(test)]
    run = _find_run_failure(verdict, failed, ink)
    if run and run.test:
        failed = [test for test in failed if test.id != run.test]
    failed.sort(key=lambda test: not test.is_required)
    failures = [*([run] if run else []), *(_finding(test, ink) for test in failed)]
    if failures and not run:
        failures[0] = _with_run_output(failures[0], verdict)
    passed = [test for test in verdict.tests if test.status is Status.ACCEPTED]
    notes = [*_warnings(verdict.diagnostics), *(one for test in passed for one in test.diagnostics)]
    notes += [one for test in failed for one in _warnings(test.diagnostics)]
    return Findings(
        failures=tuple(failures),
        notes=tuple(notes),
        passed=_count_cases([_finding(test, ink) for test in passed]),
        skipped=_count_reasons(verdict, ink),
        unrun=sum(_is_unrun(test) for test in verdict.tests),
    )


def _count_cases(passed: list[Finding]) -> tuple[tuple[str, int], ...]:
    groups = [list(group) for _, group in groupby(passed, key=lambda one: one.function)]
    return tuple((group[0].bare_title if len(group) > 1 else group[0].title, len(group)) for group in groups)


def _is_unrun(test: TestVerdict) -> bool:
    is_unexplained = test.status is Status.NO_RESULT and not test.diagnostics
    return is_unexplained or (test.status is Status.NOT_JUDGED and test.duration_s is None)


def _is_failed(test: TestVerdict) -> bool:
    return test.status not in (Status.ACCEPTED, Status.NOT_JUDGED) and not _is_unrun(test)


def _warnings(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    return tuple(one for one in diagnostics if one.kind is DiagnosticKind.WARNING)


def _errors(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    return tuple(one for one in diagnostics if one.kind is not DiagnosticKind.WARNING)


def _finding(test: TestVerdict, ink: Ink) -> Finding:
    errors = _errors(test.diagnostics)
    is_about_budget = any(one.kind is DiagnosticKind.BUDGET for one in errors)
    return Finding(
        title=ink.line(test.title.in_language(ink.language)) or ink.line(test.id),
        test=test.id,
        status=test.status,
        is_required=test.is_required,
        diagnostics=errors,
        measurements=test.measurements if is_about_budget else (),
        output=test.output,
    )


def _find_run_failure(verdict: Verdict, failed: list[TestVerdict], ink: Ink) -> Finding | None:
    """Return what is wrong with the run as a whole, under the title of the test that it happened in, if known."""
    errors = _errors(verdict.diagnostics)
    if not errors or verdict.status in (Status.ACCEPTED, Status.NOT_JUDGED):
        return None
    struck = [test for test in failed if test.status is verdict.status and not _is_explained(test, errors)]
    if struck:
        found = replace(_finding(struck[0], ink), diagnostics=errors)
    else:
        is_own_fault = verdict.status is not Status.JUDGE_ERROR
        title = ink.path(verdict.submission.path) if is_own_fault else ink.say("the_judge")
        found = Finding(title, "", verdict.status, True, errors)
    return _with_run_output(found, verdict)


def _is_explained(test: TestVerdict, errors: tuple[Diagnostic, ...]) -> bool:
    """Return whether a test has a diagnostic of its own, other than the run's."""
    return any(one not in errors for one in _errors(test.diagnostics))


def _with_run_output(finding: Finding, verdict: Verdict) -> Finding:
    """Return the finding with what the whole run printed, where the test itself has no output."""
    if finding.output.strip():
        return finding
    return replace(finding, output=verdict.output, output_dropped_bytes=verdict.output_dropped_bytes)


def _count_reasons(verdict: Verdict, ink: Ink) -> tuple[tuple[str, int], ...]:
    skipped = [test for test in verdict.tests if test.status is Status.NOT_JUDGED and not _is_unrun(test)]
    return tuple(
        Counter(
            ink.line(test.diagnostics[0].what.in_language(ink.language)) if test.diagnostics else "" for test in skipped
        ).items()
    )
