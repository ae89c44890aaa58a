"""Verdicts of every reference, stub and wrong solution on one device, written into a result file.

Run as ``python -m tests.conformance.verdicts --device sim --result docs/fidelity/verdicts-simulated-torch-2.13.json``,
and the same on a machine with a GPU; ``python -m tests.conformance.verdict_table`` then makes the table of both.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import secrets
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from judge.author.bench import Bench, Candidate, Key, explain, is_failed
from judge.author.wrong import is_named, read_wrong
from judge.catalog.packs import discover
from judge.devices.choice import Requested, choose
from judge.models.problem import Problem
from judge.models.verdict import Verdict
from judge.runner.forkserver import open_fork_server
from tests.conformance.result import SCHEMA_VERSION, describe_device


def judge_problem(problem: Problem, device: Requested, workers: int) -> dict[str, Any]:
    """Return the device that a problem ran on, and each solution's verdict by the name of its file.

    Args:
        problem: what is judged.
        device: what the tests run on.
        workers: runs at a time.
    """
    choice = choose(problem, device)
    bench = Bench(problem, choice, workers)
    reference = Candidate(problem.reference.name, problem.reference.read_bytes())
    pair, verdict = bench.judge_pair(reference, secrets.randbits(32))
    verdicts = {reference.name: describe(verdict, ())}
    key = Key(pair.oracle, pair.seed)
    wrong, _ = read_wrong(problem)
    others = [Candidate("stub.py", problem.stub.read_bytes())]
    others += [Candidate(one.path.name, one.source) for one in wrong]
    catchers = {one.path.name: one.catchers for one in wrong}
    with (
        tempfile.TemporaryDirectory(prefix="tacit-server-") as scratch,
        open_fork_server(choice.kind, Path(scratch)) as start,
    ):
        judged = Bench(problem, choice, workers, start).judge_all(others, key, lambda _done, _count: None)
    for candidate, verdict in zip(others, judged, strict=True):
        verdicts[candidate.name] = describe(verdict, catchers.get(candidate.name, ()))
    return {"device": choice.kind, "solutions": verdicts}


def describe(verdict: Verdict, catchers: Sequence[str]) -> dict[str, Any]:
    """Return a verdict's status, what broke first, and the named tests that did not fail."""
    failed = [test.id for test in verdict.tests if is_failed(test.status)]
    missed = [name for name in catchers if not any(is_named(test, name) for test in failed)]
    described: dict[str, Any] = {"status": verdict.status.value}
    if verdict.status.severity:
        described["first"] = explain(verdict).en[:300]
    if missed:
        described["missed"] = missed
    return described


def main(arguments: Sequence[str] | None = None) -> None:
    """Judge, and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "sim"), required=True)
    parser.add_argument("--result", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("numbers", type=int, nargs="*", help="all of them when none is given")
    options = parser.parse_args(arguments)
    began_s = time.monotonic()
    judged: dict[str, Any] = {}
    for problem in discover().problems:
        if options.numbers and problem.number not in options.numbers:
            continue
        at_s = time.monotonic()
        judged[problem.name] = judge_problem(problem, options.device, options.workers)
        print(f"{problem.name} {time.monotonic() - at_s:.0f} s", flush=True)
        for name, one in judged[problem.name]["solutions"].items():
            if "missed" in one or (one["status"] == "accepted") != (name == problem.reference.name):
                print("   ", name, json.dumps(one), flush=True)
        # After each problem, so that a run that is cut short has not been in vain.
        write(options.result, options.device, judged, time.monotonic() - began_s)


def write(target: Path, device: Literal["cuda", "sim"], judged: dict[str, Any], elapsed_s: float) -> None:
    """Write what has been judged so far."""
    result = {
        "schema_version": SCHEMA_VERSION,
        "device": describe_device(device),
        "torch": importlib.metadata.version("torch"),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "elapsed_s": round(elapsed_s),
        "problems": judged,
    }
    target.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
