"""The judgement: what is shown, stored and graded."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from judge.models.base import Model, Text
from judge.models.conditions import DeviceChoice, Isolation
from judge.models.record import Diagnostic, Measurement
from judge.models.status import Status

SCHEMA_VERSION: Literal[1] = 1


class Score(Model):
    """One of correctness, syncs, memory and time."""

    name: Literal["correctness", "syncs", "memory", "time"]
    weight: float
    """Share of the total; 0: the score does not apply to this problem."""
    is_judged: bool
    """Whether it was really measured in this run."""
    points: float | None = None
    """0 to 1; none where it was not judged."""
    measured: float | None = None
    budget: float | None = None
    unit: str = ""
    note: Text | None = None
    """Why it was not judged, or how far the figure can be trusted."""


class TestVerdict(Model):
    """One test, judged from outside."""

    __test__: ClassVar[bool] = False

    id: str
    title: Text
    status: Status
    weight: float
    is_required: bool
    duration_s: float | None = None
    """None where the test did not run."""
    diagnostics: tuple[Diagnostic, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    output: str = ""


class ProblemName(Model):
    """The problem, as a report names it."""

    number: int
    slug: str
    title: Text


class SubmissionName(Model):
    """The submission, as a report names it."""

    path: str
    """Absolute."""
    sha256: str
    size_bytes: int


class Verdict(Model):
    """The whole judgement of one submission."""

    schema_version: Literal[1] = SCHEMA_VERSION
    problem: ProblemName
    submission: SubmissionName
    status: Status
    scores: tuple[Score, ...]
    total: float | None
    """Weighted points of the judged scores, 0 to 1; none when nothing was judged."""
    tests: tuple[TestVerdict, ...]
    """In the order in which they ran."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """About the run as a whole: it did not compile, it crashed, a warning."""
    not_judged: tuple[Text, ...] = ()
    """In words: what this verdict does not speak about."""
    device: DeviceChoice
    isolation: Isolation
    seed: int
    """Give it as ``--seed`` to repeat the run."""
    started_at: datetime
    wall_s: float
    versions: dict[str, str] = Field(default_factory=dict)
    output: str = ""
    """Tail of what the submission printed."""
    output_dropped_bytes: int = 0
