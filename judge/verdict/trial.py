"""Judge one test: its outcome, its evidence against the oracle's, its figures against their budgets."""

from __future__ import annotations

from dataclasses import dataclass

from judge.locale import pair
from judge.models.base import Text
from judge.models.figures import format_figure
from judge.models.record import Diagnostic, DiagnosticKind, Measurement, RunRecord, TestCase, TestOutcome
from judge.models.status import Status
from judge.models.verdict import TestVerdict
from judge.verdict.comparison import Difference, find_difference
from judge.verdict.ending import text
from judge.verdict.scoring import MEASURED_BY

Finding = tuple[Status, tuple[Diagnostic, ...]]


@dataclass(frozen=True)
class Trial:
    """One test case in both runs."""

    case: TestCase
    """As the oracle's run collected it; the subject's word on weights and budgets does not count."""
    subject: RunRecord
    oracle: RunRecord
    ended: tuple[Status, Diagnostic] | None
    """What the subject's run ended as, when it did not complete."""

    def judge(self) -> TestVerdict:
        """Return the verdict on this test."""
        outcome = _find_outcome(self.subject, self.case.id)
        status, diagnostics = self._find(outcome)
        return TestVerdict(
            id=self.case.id,
            title=self.case.title,
            status=status,
            weight=self.case.weight,
            is_required=self.case.is_required,
            duration_s=outcome.duration_s if outcome else None,
            diagnostics=diagnostics,
            measurements=self._measurements(),
            output=outcome.output if outcome else "",
        )

    def _find(self, outcome: TestOutcome | None) -> Finding:
        expected = _find_outcome(self.oracle, self.case.id)
        if self._is_machine_too_busy():
            return Status.NOT_JUDGED, (_diagnose(DiagnosticKind.SKIPPED, "too_busy", "too_busy_look"),)
        if expected is None or expected.status not in (Status.ACCEPTED, Status.NOT_JUDGED):
            return Status.JUDGE_ERROR, (_blame_reference(expected),)
        if outcome is None:
            return self._find_missing()
        if outcome.status is Status.NOT_JUDGED:
            return self._find_skipped(outcome, expected)
        if outcome.status is Status.JUDGE_ERROR:
            # What breaks beside the submission and not beside the reference is the submission's doing.
            return Status.NO_RESULT, (_diagnose(DiagnosticKind.NO_RESULT, "broke_alone", "no_evidence_look"),)
        if outcome.status is not Status.ACCEPTED:
            return outcome.status, (outcome.diagnostic,) if outcome.diagnostic else ()
        return self._find_in_evidence()

    def _is_machine_too_busy(self) -> bool:
        """Whether the reference itself was over a budget of time: then this machine tells nothing just now."""
        return any(
            item.name == "time_ratio" and item.value > self.case.budget.get(item.name, float("inf"))
            for item in self.oracle.measurements
            if item.test == self.case.id
        )

    def _find_missing(self) -> Finding:
        if self.ended is None and not self._broke_off():
            return Status.NO_RESULT, (_diagnose(DiagnosticKind.NO_RESULT, "no_outcome", "no_evidence_look"),)
        if self.ended is not None and self.subject.running_test == self.case.id:
            return self.ended[0], (self.ended[1],)
        return Status.NOT_JUDGED, (Diagnostic(kind=DiagnosticKind.SKIPPED, what=text("not_run")),)

    def _broke_off(self) -> bool:
        """Whether the run ended by itself after a failure: a test that timed out is the last."""
        return any(outcome.status.severity > Status.NOT_JUDGED.severity for outcome in self.subject.outcomes)

    def _find_skipped(self, outcome: TestOutcome, expected: TestOutcome) -> Finding:
        if expected.status is not Status.NOT_JUDGED:
            return Status.WRONG, (_diagnose(DiagnosticKind.SKIPPED, "skipped_alone", "no_evidence_look"),)
        reason = outcome.diagnostic or Diagnostic(kind=DiagnosticKind.SKIPPED, what=text("skipped"))
        return Status.NOT_JUDGED, (reason,)

    def _find_in_evidence(self) -> Finding:
        """A test that passed inside is accepted only when its evidence equals the oracle's."""
        expected = [item for item in self.oracle.evidence if item.test == self.case.id]
        actual = [item for item in self.subject.evidence if item.test == self.case.id]
        if not expected and self.case.is_required:
            return Status.JUDGE_ERROR, (_diagnose(DiagnosticKind.JUDGE, "oracle_silent", "report_it"),)
        # A name may come more than once, an example a time: in order, each counts.
        for item, other in zip(expected, actual, strict=False):
            if item.name != other.name:
                break
            difference = find_difference(item, other)
            if difference is not None:
                diagnostic = Diagnostic(
                    kind=DiagnosticKind.EVIDENCE,
                    what=text("differs", place=_name_place(item.name, difference)),
                    expected=difference.expected,
                    actual=difference.actual,
                    look=text("differs_look" if difference.path else "differs_look_whole"),
                )
                return Status.WRONG, (diagnostic,)
        if [item.name for item in expected] != [item.name for item in actual]:
            return Status.NO_RESULT, (_diagnose(DiagnosticKind.NO_RESULT, "no_evidence", "no_evidence_look"),)
        return self._find_over_budget()

    def _find_over_budget(self) -> Finding:
        figures = {item.name: item for item in self._measurements()}
        for name, budget in self.case.budget.items():
            if name not in figures:
                return Status.NO_RESULT, (_diagnose(DiagnosticKind.NO_RESULT, "not_measured", None, name=name),)
            figure = figures[name]
            if not figure.value <= budget:
                diagnostic = Diagnostic(
                    kind=DiagnosticKind.BUDGET,
                    what=_say_over_budget(name),
                    expected=f"≤ {format_figure(budget, figure.unit)}",
                    actual=format_figure(figure.value, figure.unit),
                    frames=figure.places,
                    look=figure.look,
                )
                return Status.WRONG, (diagnostic,)
        return Status.ACCEPTED, ()

    def _measurements(self) -> tuple[Measurement, ...]:
        return tuple(item for item in self.subject.measurements if item.test == self.case.id)


def _name_place(name: str, difference: Difference) -> str:
    """Return what differs, the author's words for it first where there are some."""
    place = f"{name}{difference.path}"
    return f"`{difference.label}` ({place})" if difference.label else f"`{place}`"


def _say_over_budget(name: str) -> Text:
    """Name the score that a figure feeds, as the table does; a problem's own figure by its own name."""
    score = next((score for score, figure in MEASURED_BY.items() if figure == name), None)
    names = {"en": f"`{name}`", "zh": f"`{name}`"} if score is None else pair(f"report.score_{score}")
    return Text(**{language: pair("verdict.over_budget", name=said)[language] for language, said in names.items()})


def _find_outcome(run: RunRecord, test: str) -> TestOutcome | None:
    return next((outcome for outcome in run.outcomes if outcome.test == test), None)


def _blame_reference(outcome: TestOutcome | None) -> Diagnostic:
    """Say what happened to the reference: without its frames, which would show its lines to the learner."""
    status = outcome.status.value if outcome else Status.NO_RESULT.value
    detail = outcome.diagnostic.what if outcome and outcome.diagnostic else Text(en=status, zh=status)
    en, zh = text("oracle_failed", detail=detail.en).en, text("oracle_failed", detail=detail.zh).zh
    return Diagnostic(kind=DiagnosticKind.JUDGE, what=Text(en=en, zh=zh), look=text("report_it"))


def _diagnose(kind: DiagnosticKind, what: str, look: str | None, **values: object) -> Diagnostic:
    hint: Text | None = text(look) if look else None
    return Diagnostic(kind=kind, what=text(what, **values), look=hint)
