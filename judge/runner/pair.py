"""Run subject and oracle: the same tests, the same seed, two processes, side by side unless they share a GPU."""

from __future__ import annotations

import contextlib
import secrets
import selectors
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from judge.models.conditions import DeviceChoice
from judge.models.problem import Problem
from judge.models.record import RunPair, RunRecord
from judge.models.status import Status
from judge.models.submission import Submission
from judge.runner.child import Child
from judge.runner.nursery import Process, open_nursery
from judge.runner.workspace import Workspace, fill_workspace
from judge.sandbox.isolation import describe_isolation

POLL_S = 0.05
"""How late a clock may strike."""

Progress = Callable[[int, int, str | None], None]
"""Called with: tests finished, tests in all, id of the running test."""


def run_pair(
    problem: Problem,
    submission: Submission,
    *,
    device: DeviceChoice,
    seed: int | None = None,
    on_progress: Progress | None = None,
    oracle: RunRecord | None = None,
    only: Sequence[str] = (),
    stop_at_first_failure: bool = False,
    processes: Sequence[Process] = (),
    meanwhile: Callable[[], object] | None = None,
) -> RunPair:
    """Run the submission and the reference on the problem's tests and return both records.

    On a GPU the reference waits until the submission is done: two processes take turns there, and neither's times
    would mean anything.

    Args:
        problem: the problem.
        submission: the frozen source; the learner's file is not read again.
        device: what the tests run on.
        seed: of the run; drawn here, after the submission was frozen, when it is not given.
        on_progress: told of the subject's tests as they start and finish.
        oracle: record of an earlier run of the reference under the same seed, to be used again.
        only: ids of the tests that the subject runs, all cases of one without its parameters; all tests by default.
        stop_at_first_failure: end the subject after its first failed test (mutants only need one).
        processes: of an open nursery, one for each run that is to take place; without them, one is opened here.
        meanwhile: called once, as soon as both runs have been told to begin.

    Whatever happens, Ctrl-C included, no process of either run is left.
    """
    seed = secrets.randbits(32) if seed is None else seed
    started_at, started_s = datetime.now(UTC), time.monotonic()
    sources = {"subject": submission.source}
    if oracle is None:
        sources["oracle"] = problem.reference.read_bytes()
    with contextlib.ExitStack() as stack:
        ready = processes or stack.enter_context(open_nursery(len(sources)))
        begins = []
        for (role, source), process in zip(sources.items(), ready, strict=True):
            workspace = fill_workspace(process.folder, process.scratch, problem, source)
            shown = submission.shown_path if role == "subject" else "solution.py"
            request = _write_request(role, problem, workspace, shown, device, seed)
            if role == "subject":
                request |= {"only": list(only), "stop_at_first_failure": stop_at_first_failure}
            begins.append(partial(Child, role, problem.limits, process, request))
        if device.kind == "cuda":
            records = _watch_in_turn(begins, on_progress, meanwhile)
        else:
            records = _watch([begin() for begin in begins], on_progress, meanwhile)
    return RunPair(
        subject=records[0],
        oracle=records[1] if oracle is None else oracle,
        device=device,
        isolation=describe_isolation(),
        seed=seed,
        started_at=started_at,
        wall_s=time.monotonic() - started_s,
    )


def _write_request(
    role: str, problem: Problem, workspace: Workspace, shown_path: str, device: DeviceChoice, seed: int
) -> dict[str, object]:
    return {
        "role": role,
        "tests_dir": str(workspace.tests),
        "solution_path": str(workspace.solution),
        "shown_path": shown_path,
        "stub_path": str(workspace.stub),
        "seed": seed,
        "device": device.kind,
        "test_s": problem.limits.test_s,
        "load_s": problem.limits.load_s,
        "evidence_bytes": problem.limits.evidence_bytes,
    }


def _watch_in_turn(
    begins: Sequence[Callable[[], Child]], on_progress: Progress | None, meanwhile: Callable[[], object] | None
) -> list[RunRecord]:
    """Run one child after the other; a subject that can't be loaded needs no oracle."""
    begin_subject, *begin_oracles = begins
    subject = begin_subject()
    records = _watch([subject], on_progress, meanwhile)
    for begin in begin_oracles:
        oracle = begin()
        if subject.reader.load_status not in (None, Status.JUDGE_ERROR):
            oracle.stop()
        records += _watch([oracle], None, None)
    return records


def _watch(
    children: Sequence[Child], on_progress: Progress | None, meanwhile: Callable[[], object] | None
) -> list[RunRecord]:
    """Read both children until both have ended; a subject that can't be loaded needs no oracle."""
    subject, *oracles = children
    try:
        if on_progress is not None:
            on_progress(0, 0, None)
        if meanwhile is not None:
            meanwhile()
        with selectors.DefaultSelector() as selector:
            for child in children:
                for descriptor in child.sources:
                    selector.register(descriptor, selectors.EVENT_READ, child)
            while selector.get_map():
                for key, _ in selector.select(POLL_S):
                    if not key.data.take(key.fd):
                        selector.unregister(key.fd)
                for child in children:
                    child.check_clocks()
                if subject.reader.load_status not in (None, Status.JUDGE_ERROR):
                    for oracle in oracles:
                        oracle.stop()
                if on_progress is not None:
                    reader = subject.reader
                    on_progress(len(reader.outcomes), len(reader.tests), reader.running_test)
    finally:
        # Both are asked first and awaited after, so that an interrupt ends both at once.
        for child in children:
            child.stop(child.end_kind)
        records = [child.close() for child in children]
    return records
