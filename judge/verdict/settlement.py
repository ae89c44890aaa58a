"""Judge one submission from the records of its run and of the reference's."""

from __future__ import annotations

from collections.abc import Sequence

from judge import __version__
from judge.models.base import Text
from judge.models.problem import Problem
from judge.models.record import Diagnostic, DiagnosticKind, RunPair, RunRecord
from judge.models.status import Status, worst
from judge.models.submission import Submission
from judge.models.verdict import ProblemName, SubmissionName, TestVerdict, Verdict
from judge.verdict.ending import explain_end, text
from judge.verdict.scoring import score_tests, total_of
from judge.verdict.trial import Trial


def settle(problem: Problem, submission: Submission, pair: RunPair) -> Verdict:
    """Return the verdict on a submission. Pure: the same records give the same verdict.

    The reference's run says which tests there are, and what is required of each; the submission's run is
    held against it test by test. A reference that fails is a judge error, unless the submission could not
    even be loaded: that is true without it.
    """
    status, tests, diagnostics = _decide(problem, submission, pair)
    subject = pair.subject
    cases = pair.oracle.tests
    warnings = [item for item in subject.diagnostics if item.kind is DiagnosticKind.WARNING]
    if subject.output_dropped_bytes:
        warnings.append(
            Diagnostic(kind=DiagnosticKind.WARNING, what=text("output_cut", dropped=subject.output_dropped_bytes))
        )
    scores = score_tests(problem, tests, cases)
    # Where the reference broke, its words explain it.
    speaker = pair.oracle if status is Status.JUDGE_ERROR and not tests else subject
    return Verdict(
        problem=ProblemName(number=problem.number, slug=problem.slug, title=problem.title),
        submission=SubmissionName(
            path=submission.shown_path, sha256=submission.sha256, size_bytes=submission.size_bytes
        ),
        status=status,
        scores=scores,
        total=total_of(scores),
        tests=tests,
        diagnostics=(*diagnostics, *warnings),
        not_judged=_list_not_judged(pair, tests),
        device=pair.device,
        isolation=pair.isolation,
        seed=pair.seed,
        started_at=pair.started_at,
        wall_s=pair.wall_s,
        versions={"judge": __version__, **subject.versions},
        output=speaker.output,
        output_dropped_bytes=speaker.output_dropped_bytes,
    )


Decision = tuple[Status, tuple[TestVerdict, ...], tuple[Diagnostic, ...]]


def _decide(problem: Problem, submission: Submission, pair: RunPair) -> Decision:
    subject, oracle = pair.subject, pair.oracle
    if subject.load_status not in (None, Status.JUDGE_ERROR):
        failures = tuple(item for item in subject.diagnostics if item.kind is not DiagnosticKind.WARNING)
        return subject.load_status, (), failures
    fault = _find_oracle_fault(problem, oracle)
    if fault is not None:
        return Status.JUDGE_ERROR, (), (fault,)
    if subject.load_status is Status.JUDGE_ERROR:
        what, look = text("broke_alone"), text("no_evidence_look")
        return Status.NO_RESULT, (), (Diagnostic(kind=DiagnosticKind.NO_RESULT, what=what, look=look),)
    ended = explain_end(subject, problem.limits, submission.shown_path, submission.source)
    tests = tuple(Trial(case, subject, oracle, ended).judge() for case in oracle.tests)
    status = worst(test.status for test in tests if test.is_required)
    if ended is None:
        return status, tests, ()
    is_told = any(ended[1] in test.diagnostics for test in tests)
    return worst((status, ended[0])), tests, () if is_told else (ended[1],)


def _find_oracle_fault(problem: Problem, oracle: RunRecord) -> Diagnostic | None:
    """Return why the reference's run can't serve as the answer key, or ``None``."""
    ended = explain_end(oracle, problem.limits, "")
    if oracle.load_status is not None or ended is not None:
        detail = ended[1].what if ended is not None else oracle.diagnostics[-1].what
        return _blame_problem("oracle_broke", detail=detail)
    if not oracle.tests:
        return _blame_problem("no_tests")
    return None


def _blame_problem(key: str, *, detail: Text | None = None) -> Diagnostic:
    what = (
        text(key, detail="")
        if detail is None
        else Text(en=text(key, detail=detail.en).en, zh=text(key, detail=detail.zh).zh)
    )
    return Diagnostic(kind=DiagnosticKind.JUDGE, what=what, look=text("report_it"))


def _list_not_judged(pair: RunPair, tests: Sequence[TestVerdict]) -> tuple[Text, ...]:
    """Say in words what the verdict does not speak about."""
    lines = []
    if pair.device.kind == "cpu":
        why = pair.device.why
        lines.append(Text(en=text("on_cpu", why=why.en).en, zh=text("on_cpu", why=why.zh).zh))
    lines += _list_skipped(tests)
    not_run = sum(test.status is Status.NOT_JUDGED and test.duration_s is None for test in tests)
    if not_run:
        lines.append(text("tests_not_run", count=not_run))
    if pair.subject.load_status is not Status.COMPILE_ERROR:
        # What does not compile never ran, and could reach nothing.
        lines += [missing.why for missing in pair.isolation.missing]
    return tuple(lines)


def _list_skipped(tests: Sequence[TestVerdict]) -> list[Text]:
    """Return one line a reason for which required tests were skipped."""
    reasons: dict[Text, int] = {}
    for test in tests:
        if test.is_required and test.status is Status.NOT_JUDGED and test.duration_s is not None:
            reason = test.diagnostics[0].what if test.diagnostics else text("skipped")
            reasons[reason] = reasons.get(reason, 0) + 1
    return [
        Text(
            en=text("tests_skipped", count=count, reason=reason.en).en,
            zh=text("tests_skipped", count=count, reason=reason.zh).zh,
        )
        for reason, count in reasons.items()
    ]
