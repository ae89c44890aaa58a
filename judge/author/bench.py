"""Judge sources of an author's making, several at a time."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from judge.models.base import Text
from judge.models.conditions import DeviceChoice
from judge.models.problem import Problem
from judge.models.record import RunPair, RunRecord
from judge.models.status import Status
from judge.models.submission import Submission
from judge.models.verdict import TestVerdict, Verdict
from judge.runner.nursery import Start, open_nursery, start_interpreter
from judge.runner.pair import run_pair
from judge.verdict import settle

OnDone = Callable[[int, int], None]
"""Told how many runs of how many are done, in the caller's thread."""


class _Abandoned(Exception):
    """The caller does not wait for this run any more."""


@dataclass(frozen=True)
class Candidate:
    """A source that is judged like a learner's."""

    name: str
    """How tracebacks name it."""
    source: bytes
    only: tuple[str, ...] = ()
    """Ids of the tests that it runs; all of them when it is empty."""

    def as_submission(self) -> Submission:
        """Return the source as if a learner had handed it in."""
        return Submission(source=self.source, shown_path=self.name, sha256=hashlib.sha256(self.source).hexdigest())


@dataclass(frozen=True)
class Key:
    """One run of the reference, which candidates are held against."""

    oracle: RunRecord
    seed: int


@dataclass(frozen=True)
class Bench:
    """Where the candidates of one problem are judged."""

    problem: Problem
    device: DeviceChoice
    workers: int
    """Runs at a time."""
    start: Start = start_interpreter
    """How children come into being."""

    def judge_pair(self, candidate: Candidate, seed: int) -> tuple[RunPair, Verdict]:
        """Judge a candidate beside a fresh run of the reference."""
        submission = candidate.as_submission()
        with open_nursery(2, self.start) as processes:
            pair = run_pair(self.problem, submission, device=self.device, seed=seed, processes=processes)
        return pair, settle(self.problem, submission, pair)

    def judge_all(
        self, candidates: Sequence[Candidate], key: Key, on_done: OnDone, *, to_first_failure: bool = False
    ) -> list[Verdict]:
        """Judge candidates against one run of the reference; the verdicts come in the candidates' order.

        Whatever happens, Ctrl-C included, no run is left.

        Args:
            candidates: what is judged.
            key: what they are held against.
            on_done: told of each that is done.
            to_first_failure: end a run after its first failed test.
        """
        is_abandoned = threading.Event()
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                runs = [
                    pool.submit(self._judge, one, key, is_abandoned, to_first_failure=to_first_failure)
                    for one in candidates
                ]
                for done, run in enumerate(as_completed(runs), 1):
                    run.result()
                    on_done(done, len(runs))
            except BaseException:
                is_abandoned.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [run.result() for run in runs]

    def _judge(
        self, candidate: Candidate, key: Key, is_abandoned: threading.Event, *, to_first_failure: bool
    ) -> Verdict:
        def heed(_finished: int, _total: int, _running: str | None) -> None:
            # Called every few milliseconds; raising ends the run and all its processes.
            if is_abandoned.is_set():
                raise _Abandoned

        submission = candidate.as_submission()
        with open_nursery(1, self.start) as processes:
            pair = run_pair(
                self.problem,
                submission,
                device=self.device,
                seed=key.seed,
                oracle=key.oracle,
                on_progress=heed,
                only=candidate.only,
                stop_at_first_failure=to_first_failure,
                processes=processes,
            )
        return settle(self.problem, submission, pair)


def is_failed(status: Status) -> bool:
    """Return whether a status is more than accepted or skipped."""
    return status.severity > Status.NOT_JUDGED.severity


def list_failed(verdict: Verdict) -> list[TestVerdict]:
    """Return the tests that failed, optional ones included."""
    return [test for test in verdict.tests if is_failed(test.status)]


def explain(verdict: Verdict) -> Text:
    """Return what broke first, with the test's id."""
    for test in list_failed(verdict):
        if test.diagnostics:
            what = test.diagnostics[0].what
            return Text(en=f"{test.id}: {what.en}", zh=f"{test.id}：{what.zh}")
    if verdict.diagnostics:
        return verdict.diagnostics[0].what
    return Text(en=verdict.status.value, zh=verdict.status.value)
