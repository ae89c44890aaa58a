"""Wrong solutions: each is a believable mistake, and the test that it names catches it."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.author.bench import Bench, Candidate, Key, OnDone, explain, is_failed, list_failed
from judge.author.findings import Finding, find
from judge.models.problem import Problem
from judge.models.status import Status
from judge.models.verdict import TestVerdict, Verdict

CATCHER = re.compile(r"^\s*Caught by:\s*(\S+)\s*$", re.MULTILINE)
MOST_NAMED = 5


@dataclass(frozen=True)
class WrongSolution:
    """One ``wrong_*.py``."""

    path: Path
    source: bytes
    catchers: tuple[str, ...] = ()
    """Ids of the tests that must fail, without parameters where any of them may."""


def read_wrong(problem: Problem) -> tuple[list[WrongSolution], list[Finding]]:
    """Return the wrong solutions that say who catches them, and what is wrong with the others."""
    solutions, findings = [], []
    paths = sorted(problem.reference_folder.glob("wrong_*.py"))
    for path in paths:
        source = path.read_bytes()
        try:
            document = ast.get_docstring(ast.parse(source, path.name)) or ""
        except (SyntaxError, ValueError) as fault:
            line = getattr(fault, "lineno", None)
            findings.append(find("no_program", path, line=line, name=path.name, reason=getattr(fault, "msg", fault)))
            continue
        catchers = tuple(CATCHER.findall(document))
        if not CATCHER.sub("", document).strip():
            findings.append(find("wrong_unexplained", path, line=1, name=path.name))
        if not catchers:
            findings.append(find("wrong_no_catcher", path, line=1, name=path.name))
        solutions.append(WrongSolution(path, source, catchers))
    if not paths:
        findings.append(find("no_wrong", problem.reference_folder))
    return solutions, findings


def judge_wrong(
    bench: Bench, solutions: list[WrongSolution], key: Key, on_done: OnDone, *, named_only: bool = False
) -> list[Finding]:
    """Judge each wrong solution, and return what the tests missed.

    Args:
        bench: where they are judged.
        solutions: what is judged.
        key: the reference's run.
        on_done: told of each that is done.
        named_only: run only the tests that a solution names.
    """
    candidates = [
        Candidate(solution.path.name, solution.source, _find_named(solution, key) if named_only else ())
        for solution in solutions
    ]
    verdicts = bench.judge_all(candidates, key, on_done)
    return [
        finding
        for solution, verdict in zip(solutions, verdicts, strict=True)
        for finding in _examine(solution, verdict, key)
    ]


def _find_named(solution: WrongSolution, key: Key) -> tuple[str, ...]:
    """Return the tests that a solution names and that exist; a name that does not is told after the run."""
    tests = [case.id for case in key.oracle.tests]
    return tuple(one for one in solution.catchers if any(is_named(test, one) for test in tests))


def _examine(solution: WrongSolution, verdict: Verdict, key: Key) -> Iterator[Finding]:
    path, name = solution.path, solution.path.name
    if verdict.status is Status.JUDGE_ERROR:
        yield find("run_broke", path, name=name, what=explain(verdict))
        return
    if not verdict.tests:
        # It was never asked a question: that is not the mistake that its author had in mind.
        yield find("wrong_not_loaded", path, name=name, what=explain(verdict))
        return
    if verdict.status is Status.ACCEPTED:
        yield find("wrong_accepted", path, name=name)
        return
    for catcher in solution.catchers:
        yield from _examine_catcher(solution, catcher, verdict, key)


def _examine_catcher(solution: WrongSolution, catcher: str, verdict: Verdict, key: Key) -> Iterator[Finding]:
    path, name = solution.path, solution.path.name
    line = _line_of(solution, catcher)
    named = [test for test in verdict.tests if is_named(test.id, catcher)]
    if not named:
        known = sorted({test.id.partition("[")[0] for test in verdict.tests})
        close = difflib.get_close_matches(catcher, known, 1, 0)[0]
        yield find("wrong_no_such_test", path, line=line, name=name, test=catcher, close=close)
        return
    caught = [test for test in named if is_failed(test.status)]
    if any(test.diagnostics for test in caught):
        return
    if not any(test.duration_s is not None for test in named) and not _is_skipped(named, key):
        yield find("wrong_not_reached", path, line=line, name=name, test=catcher, what=explain(verdict))
    elif caught:
        yield find("wrong_no_diagnostic", path, line=line, name=name, test=catcher)
    elif not _is_skipped(named, key):
        # A test that did not run has no verdict worth telling.
        others = [test for test in list_failed(verdict) if test.duration_s is not None]
        rule = "wrong_not_caught" if others else "wrong_uncaught"
        yield find(rule, path, line=line, name=name, test=catcher, others=_name_some(others))


def is_named(test: str, catcher: str) -> bool:
    """Return whether a node id is the named one, or one of its parametrisations."""
    return test == catcher or test.startswith(f"{catcher}[")


def _is_skipped(named: Iterable[TestVerdict], key: Key) -> bool:
    """Return whether none of the tests could run on this machine: nothing is known then."""
    skipped = {outcome.test for outcome in key.oracle.outcomes if outcome.status is Status.NOT_JUDGED}
    return all(test.id in skipped for test in named)


def _name_some(tests: list[TestVerdict]) -> str:
    ids = [test.id for test in tests]
    return ", ".join(ids[:MOST_NAMED]) + (", …" if len(ids) > MOST_NAMED else "")


def _line_of(solution: WrongSolution, catcher: str) -> int:
    lines = solution.source.decode("utf-8", "replace").splitlines()
    return next(at for at, line in enumerate(lines, 1) if "Caught by:" in line and catcher in line)
