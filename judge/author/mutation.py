"""Judge the mutants of a reference: what the tests let live is shown, and has to be explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judge.author.bench import Bench, Candidate, Key, OnDone, explain, list_failed
from judge.author.findings import Finding, Mutation, Survivor, find
from judge.author.mutants import Mutant, make_mutants
from judge.author.stub import read_sources
from judge.author.survivors import Explanation, complain, read_explanations
from judge.models.problem import Problem
from judge.models.record import DiagnosticKind
from judge.models.status import Status
from judge.models.verdict import Verdict

GREEN_SHARE = 0.9
"""Of the mutants that are not explained as equivalent, so many must be killed."""
SLOWER = 10
"""A mutant's test may take so many times as long as the reference's slowest one, and ``SPARE_S`` on top."""
SPARE_S = 2.0


def judge_mutants(bench: Bench, key: Key, on_done: OnDone) -> tuple[Mutation, list[Finding]]:
    """Judge every mutant, and return the figures and what is wrong.

    Raises:
        MissingTool: cosmic-ray is not installed.
    """
    problem = bench.problem
    stub, reference = read_sources(problem)
    mutants = make_mutants(reference, stub)
    verdicts = _judge(bench, mutants, key, on_done)
    explanations, findings = read_explanations(problem)
    alive = [mutant for mutant, verdict in zip(mutants, verdicts, strict=True) if verdict.status is Status.ACCEPTED]
    counted = [one.status for one in verdicts if one.status not in (Status.NOT_JUDGED, Status.JUDGE_ERROR)]
    mutation = Mutation(
        judged=len(counted),
        killed=len(counted) - len(alive),
        undecided=sum(verdict.status is Status.NOT_JUDGED for verdict in verdicts),
        survivors=tuple(_make_survivor(mutant, explanations) for mutant in alive),
    )
    for mutant, verdict in zip(mutants, verdicts, strict=True):
        if verdict.status is Status.JUDGE_ERROR:
            what = explain(verdict)
            findings.append(find("run_broke", problem.reference, line=mutant.line, name=mutant.after, what=what))
    findings += [_complain(bench, survivor) for survivor in mutation.survivors if survivor.why is None]
    if not mutation.undecided:
        findings += [
            complain("survivor_stale", one, explanations, problem)
            for one in explanations
            if not any(one.fits(mutant) for mutant in alive)
        ]
    if mutation.share < GREEN_SHARE:
        share, wanted = f"{mutation.share:.0%}", f"{GREEN_SHARE:.0%}"
        findings.append(find("few_killed", problem.reference, share=share, wanted=wanted))
    return mutation, findings


def _judge(bench: Bench, mutants: Sequence[Mutant], key: Key, on_done: OnDone) -> list[Verdict]:
    """Return a verdict on each mutant."""
    bench = replace(bench, problem=_hasten(bench, key))
    candidates = [Candidate("solution.py", mutant.source) for mutant in mutants]
    verdicts = bench.judge_all(candidates, key, on_done, to_first_failure=True)
    # Beside other runs a figure of time may go over its budget without the mutant's doing: ask again, alone.
    alone = replace(bench, workers=1)
    for at, verdict in enumerate(verdicts):
        if _is_over_budget_only(verdict):
            verdicts[at] = alone.judge_all([candidates[at]], key, lambda _done, _count: None)[0]
    return verdicts


def _hasten(bench: Bench, key: Key) -> Problem:
    """Return the problem with a shorter clock: a mutant that never ends need not wait for the learner's limit."""
    limits = bench.problem.limits
    slowest_s = max((outcome.duration_s for outcome in key.oracle.outcomes), default=0.0)
    test_s = min(limits.test_s, SLOWER * slowest_s + SPARE_S)
    return bench.problem.model_copy(update={"limits": limits.model_copy(update={"test_s": test_s})})


def _is_over_budget_only(verdict: Verdict) -> bool:
    kinds = {diagnostic.kind for test in list_failed(verdict) for diagnostic in test.diagnostics}
    return kinds == {DiagnosticKind.BUDGET}


def _make_survivor(mutant: Mutant, explanations: Sequence[Explanation]) -> Survivor:
    explanation = next((one for one in explanations if one.fits(mutant)), None)
    return Survivor(
        where=mutant.where,
        line=mutant.line,
        before=mutant.before,
        after=mutant.after,
        diff=mutant.diff,
        why=explanation.why if explanation else None,
        is_equivalent=explanation.equivalent if explanation else False,
    )


def _complain(bench: Bench, survivor: Survivor) -> Finding:
    rule = "survivor" if survivor.after else "survivor_removed"
    return find(
        rule,
        bench.problem.reference,
        line=survivor.line,
        where=survivor.where,
        before=survivor.before,
        after=survivor.after,
    )
