"""``check``: prove problems before a learner meets them."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from judge.author.bench import Bench, Key
from judge.author.findings import CheckReport, Finding, Mutation, ProblemReport, text
from judge.author.layout import find_orphans, find_strays
from judge.author.mutation import judge_mutants
from judge.author.operators import require_cosmic_ray
from judge.author.pages import check_pages
from judge.author.reference import RUNS, prove_reference
from judge.author.stub import judge_stub, read_sources
from judge.author.titles import check_tests
from judge.author.trivial import judge_trivial, make_answers
from judge.author.wrong import WrongSolution, judge_wrong, read_wrong
from judge.devices.choice import Requested, choose
from judge.errors import BrokenProblem
from judge.models.base import Text
from judge.models.problem import Problem
from judge.models.verdict import ProblemName
from judge.runner.forkserver import open_fork_server

Progress = Callable[[Problem, Text, int, int], None]
"""Called, in the caller's thread, with: the problem, what is tried, how many of it are done, of how many."""


def run_check(
    problems: Sequence[Problem],
    *,
    faults: Sequence[BrokenProblem] = (),
    mutants: bool = True,
    quick: bool = False,
    workers: int | None = None,
    device: Requested = "auto",
    on_progress: Progress | None = None,
) -> CheckReport:
    """Check problems, one after the other, and return all that is wrong with them.

    Args:
        problems: what is checked.
        faults: problems that could not be read, to be told in the same report.
        mutants: change the reference in many small ways and see whether the tests notice.
        quick: only what one edit is likely to break: one seed, and of each wrong solution the tests that it names;
            neither trivial answers nor mutants.
        workers: runs at a time; one a core when it is not given.
        device: what the tests run on.
        on_progress: told what is being tried.

    Raises:
        MissingTool: mutants are wanted and cosmic-ray is not installed; nothing has run then.
        UsageError: ``cuda`` was asked for and no CUDA device answers.
    """
    mutants = mutants and not quick
    if mutants:
        require_cosmic_ray()
    at_a_time = workers or os.cpu_count() or 1
    benches = [Bench(problem, choose(problem, device), at_a_time) for problem in problems]
    checks = [_Check(bench, on_progress or _ignore, quick, mutants) for bench in benches]
    reports = tuple(check.run() for check in checks)
    return CheckReport(
        problems=reports,
        findings=tuple(find_orphans(problems)),
        broken=tuple(str(fault) for fault in faults),
    )


def _ignore(_problem: Problem, _step: Text, _done: int, _count: int) -> None:
    """Nobody watches."""


@dataclass
class _Check:
    """One problem's check on its way."""

    bench: Bench
    on_progress: Progress
    is_quick: bool
    with_mutants: bool
    findings: list[Finding] = field(default_factory=list)
    unproven: list[Text] = field(default_factory=list)
    wrong: list[WrongSolution] = field(default_factory=list)
    tests: int = 0
    trivial: int = 0
    mutation: Mutation | None = None

    def run(self) -> ProblemReport:
        """Look at the files, then let sources run against them."""
        started_s = time.monotonic()
        problem = self.bench.problem
        self._read()
        with (
            tempfile.TemporaryDirectory(prefix="tacit-server-") as scratch,
            open_fork_server(self.bench.device.kind, Path(scratch)) as start,
        ):
            copies = replace(self.bench, start=start)
            # From nothing, as a learner's run is; but not for every edit.
            key = self._prove_reference(copies if self.is_quick else self.bench)
            if key is not None:
                self._judge(copies, key)
        return ProblemReport(
            problem=ProblemName(number=problem.number, slug=problem.slug, title=problem.title),
            findings=tuple(self.findings),
            unproven=tuple(self.unproven),
            untried=self._say_untried(),
            tests=self.tests,
            wrong=len(self.wrong),
            trivial=self.trivial,
            mutation=self.mutation,
            wall_s=time.monotonic() - started_s,
        )

    def _read(self) -> None:
        """Check what can be seen without running anything."""
        problem = self.bench.problem
        self.findings += find_strays(problem)
        self.findings += check_pages(problem)
        self.findings += check_tests(problem)
        self.wrong, findings = read_wrong(problem)
        self.findings += findings

    def _prove_reference(self, bench: Bench) -> Key | None:
        if any(one.rule == "no_program" and one.file.parent == self.bench.problem.folder for one in self.findings):
            self.unproven.append(text("unproven_no_program"))
            return None
        self._tell("reference")(0, 1)
        proof = prove_reference(bench, 1 if self.is_quick else RUNS)
        self.findings += proof.findings
        self.unproven += proof.unproven
        if proof.key is None:
            self.unproven.append(text("unproven_rest"))
        else:
            self.tests = len(proof.key.oracle.tests)
        return proof.key

    def _judge(self, bench: Bench, key: Key) -> None:
        """Run everything that must not be accepted."""
        self.findings += judge_stub(bench, key, self._tell("stub"))
        self.findings += judge_wrong(bench, self.wrong, key, self._tell("wrong"), named_only=self.is_quick)
        if self.is_quick:
            return
        answers = make_answers(*read_sources(bench.problem))
        findings, undecided = judge_trivial(bench, answers, key, self._tell("trivial"))
        self.findings += findings
        self.trivial = len(answers)
        self._note_undecided(undecided)
        if self.with_mutants:
            self.mutation, findings = judge_mutants(bench, key, self._tell("mutants"))
            self.findings += findings
            self._note_undecided(self.mutation.undecided)

    def _say_untried(self) -> Text | None:
        if self.is_quick:
            return text("untried_quick")
        return None if self.with_mutants else text("untried_mutants")

    def _note_undecided(self, count: int) -> None:
        if count:
            self.unproven.append(text("unproven_undecided", count=count))

    def _tell(self, step: str) -> Callable[[int, int], None]:
        return partial(self.on_progress, self.bench.problem, text(f"step_{step}"))
