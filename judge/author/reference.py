"""Prove the reference: accepted under two seeds, with evidence in every required test."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from judge.author.bench import Bench, Candidate, Key, explain
from judge.author.findings import Finding, find, text
from judge.author.titles import read_test_functions
from judge.locale import pair
from judge.models.base import Text
from judge.models.problem import Problem
from judge.models.record import RunRecord
from judge.models.status import Status

RUNS = 2


@dataclass(frozen=True)
class Proof:
    """What running the reference against itself came to."""

    findings: tuple[Finding, ...]
    unproven: tuple[Text, ...] = ()
    key: Key | None = None
    """What other sources are held against; none when the reference can't serve."""


def prove_reference(bench: Bench, runs: int = RUNS) -> Proof:
    """Judge the reference ``runs`` times, each under a seed of its own and beside another run of itself."""
    problem = bench.problem
    candidate = Candidate("solution.py", problem.reference.read_bytes())
    first = secrets.randbits(31)
    key = None
    for seed in range(first, first + runs):
        made, verdict = bench.judge_pair(candidate, seed)
        key = key or Key(made.oracle, seed)
        silent = find_silent(problem, made.oracle)
        if silent:
            return Proof(tuple(silent))
        if verdict.status not in (Status.ACCEPTED, Status.NOT_JUDGED):
            status = Text(**pair(f"report.status_{verdict.status.value}"))
            what = explain(verdict)
            return Proof((find("reference_refused", problem.reference, status=status, what=what, seed=seed),))
    assert key is not None  # there was one at least
    return _weigh_skips(key)


def _weigh_skips(key: Key) -> Proof:
    """Say what this machine can't prove, because tests were skipped on it."""
    required = {case.id for case in key.oracle.tests if case.is_required}
    skipped = [one for one in key.oracle.outcomes if one.test in required and one.status is Status.NOT_JUDGED]
    if not skipped:
        return Proof((), key=key)
    reason = skipped[0].diagnostic.what if skipped[0].diagnostic else text("no_reason")
    unproven = text("unproven_skips", skipped=len(skipped), tests=len(required), reason=reason)
    return Proof((), (unproven,), None if len(skipped) == len(required) else key)


def find_silent(problem: Problem, oracle: RunRecord) -> list[Finding]:
    """Return a finding for each required test that passed with the reference and recorded no evidence."""
    heard = {item.test for item in oracle.evidence}
    passed = {outcome.test for outcome in oracle.outcomes if outcome.status is Status.ACCEPTED}
    silent = [case.id for case in oracle.tests if case.is_required and case.id in passed - heard]
    if not silent:
        return []
    functions = {function.id: function for function in read_test_functions(problem)}
    findings = {}
    for test in silent:
        name = test.partition("[")[0]
        function = functions.get(name)
        path = function.path if function else problem.folder / name.partition("::")[0]
        line = function.line if function else None
        findings[name] = find("test_silent", path, line=line, name=name.rpartition("::")[2])
    return list(findings.values())
