"""Records by hand, so that the verdict can be tested without a process."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judge.models.base import Text
from judge.models.conditions import DeviceChoice, Isolation
from judge.models.problem import Problem, Weights
from judge.models.record import (
    Diagnostic,
    DiagnosticKind,
    End,
    EndKind,
    Evidence,
    Measurement,
    RunPair,
    RunRecord,
    TestCase,
    TestOutcome,
)
from judge.models.status import Status
from judge.models.submission import Submission
from judge.models.verdict import Verdict
from judge.verdict import settle

BOTH = Text(en="a sentence", zh="一句话")
EXITED = End(kind=EndKind.EXITED, exit_code=0)


def problem(**changes: Any) -> Problem:
    """Return a problem whose scores are correctness and time."""
    fields: dict[str, Any] = {
        "number": 1,
        "slug": "small",
        "title": BOTH,
        "topic": "testing",
        "difficulty": 1,
        "weights": Weights(correctness=3, time=1),
        "folder": Path("problems/1_small"),
        "reference_folder": Path("reference/1_small"),
    }
    return Problem(**fields | changes)


def case(name: str, **changes: Any) -> TestCase:
    """Return a required test."""
    return TestCase(id=f"test_x.py::{name}", title=BOTH, **changes)


def outcome(name: str, status: Status = Status.ACCEPTED, **changes: Any) -> TestOutcome:
    """Return how a test ended."""
    return TestOutcome(test=f"test_x.py::{name}", status=status, duration_s=0.1, **changes)


def evidence(test: str, value: Any, **changes: Any) -> Evidence:
    """Return exact evidence of a test."""
    return Evidence(**{"test": f"test_x.py::{test}", "name": "value", "mode": "exact", "value": value} | changes)


def figure(name: str, value: float, what: str = "time_ratio") -> Measurement:
    """Return a measurement of a test."""
    return Measurement(test=f"test_x.py::{name}", name=what, value=value, unit="×")


def run(role: str = "subject", **changes: Any) -> RunRecord:
    """Return a run of the two tests ``a`` and ``b`` in which both passed with evidence 1 and 2."""
    fields: dict[str, Any] = {
        "role": role,
        "tests": (case("a"), case("b")),
        "outcomes": (outcome("a"), outcome("b")),
        "evidence": (evidence("a", 1), evidence("b", 2)),
        "is_complete": True,
        "versions": {"python": "3.11"},
        "end": EXITED,
    }
    return RunRecord(**fields | changes)


def failure(kind: DiagnosticKind = DiagnosticKind.MISMATCH) -> Diagnostic:
    """Return a diagnostic."""
    return Diagnostic(kind=kind, what=BOTH, expected="1", actual="2")


def judged(subject: RunRecord, oracle: RunRecord | None = None, **changes: Any) -> Verdict:
    """Return the verdict on a subject's record."""
    pair = RunPair(
        subject=subject,
        oracle=oracle or run("oracle"),
        device=DeviceChoice(kind=changes.pop("device", "none"), why=BOTH),
        isolation=Isolation(level="L0", enforced=()),
        seed=7,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        wall_s=1.0,
    )
    submission = Submission(source=b"x = 1", shown_path="mine.py", sha256="0" * 64)
    return settle(problem(**changes), submission, pair)
