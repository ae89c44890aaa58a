"""What one child process reported, and what the parent saw of it from outside."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field

from judge.models.base import Model, Text
from judge.models.conditions import DeviceChoice, Isolation
from judge.models.status import Status


class Frame(Model):
    """One line of a traceback."""

    file: str
    line: int
    function: str
    code: str
    """Source of the line, stripped; empty where it is not known."""


class DiagnosticKind(StrEnum):
    """What sort of failure a diagnostic explains."""

    MISMATCH = "mismatch"
    """A test compared and found a difference."""
    EVIDENCE = "evidence"
    """The parent compared evidence with the oracle's and found a difference."""
    EXCEPTION = "exception"
    """The submission raised."""
    INTERFACE = "interface"
    """A name is missing or has another signature than the stub's."""
    COMPILE = "compile"
    """The source is no Python program."""
    TIMEOUT = "timeout"
    CRASH = "crash"
    BUDGET = "budget"
    """A measurement is over its budget."""
    SKIPPED = "skipped"
    NO_RESULT = "no_result"
    JUDGE = "judge"
    """A fault of the judge or of the problem."""
    WARNING = "warning"
    """Does not change the status: a SyntaxWarning, output that was cut."""


class Diagnostic(Model):
    """First what broke, with expected and actual; then where, and what to look at."""

    kind: DiagnosticKind
    what: Text
    """One sentence: what broke."""
    expected: str | None = None
    actual: str | None = None
    look: Text | None = None
    """What to look at next."""
    picture: Text | None = None
    """A small drawing in plain text, for example the map of a segment; only its words differ by language."""
    frames: tuple[Frame, ...] = ()
    """The learner's and the test's frames, outermost first."""
    folded: int = 0
    """Frames of the judge and of libraries that were left out."""
    is_cut: bool = False
    """Whether a text above was shortened."""


class TestCase(Model):
    """A collected test, before it ran."""

    __test__: ClassVar[bool] = False

    id: str
    """pytest node id, relative to the problem's folder."""
    title: Text
    """First paragraph of the docstring, and its ``zh:`` paragraph."""
    weight: Annotated[float, Field(ge=0)] = 1.0
    is_required: bool = True
    budget: dict[str, float] = Field(default_factory=dict)
    """Budgets by measurement name, from ``@pytest.mark.budget``."""


class TestOutcome(Model):
    """How one test ended, as the child says."""

    __test__: ClassVar[bool] = False

    test: str
    """Id of the test."""
    status: Status
    """accepted, not_judged (skipped), wrong, runtime_error or timed_out."""
    duration_s: float
    diagnostic: Diagnostic | None = None
    output: str = ""
    """What the test printed, cut to a few kilobytes."""


class Tensor(Model):
    """Bytes of a tensor, row-major."""

    dtype: str
    """For example ``float32`` or ``bfloat16``."""
    shape: tuple[int, ...]
    data: Annotated[bytes, Field(repr=False)]


class Evidence(Model):
    """A value that the parent compares with the oracle's value of the same name."""

    test: str
    name: str
    mode: str
    """``exact`` or ``close``."""
    value: Any = None
    """Plain data, or a :class:`Tensor`."""
    labels: tuple[str, ...] = ()
    """For a list: what each item is, so that a difference can be named."""
    rtol: float = 0.0
    atol: float = 0.0


class Measurement(Model):
    """A figure taken inside the child: it is set against the budget, and marked cooperative."""

    test: str
    name: str
    """``syncs``, ``memory_bytes``, ``time_ratio``, or a name of the problem's own."""
    value: float
    unit: str = ""
    places: tuple[Frame, ...] = ()
    """Lines that the figure counts, for example of each host wait."""
    look: Text | None = None
    """What to look at when it is over its budget."""


class EndKind(StrEnum):
    """How the child process ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    WALL_CLOCK = "wall_clock"
    """The parent killed it: the whole run took too long."""
    TEST_CLOCK = "test_clock"
    """The parent killed it: one test took too long and could not be interrupted from inside."""
    NOT_STARTED = "not_started"


class End(Model):
    """The child's end, as seen from outside."""

    kind: EndKind
    exit_code: int | None = None
    signal: str | None = None
    """For example ``SIGSEGV``."""
    detail: str = ""


class RunRecord(Model):
    """Everything known about one child process."""

    role: str
    """``subject`` or ``oracle``."""
    tests: tuple[TestCase, ...] = ()
    outcomes: tuple[TestOutcome, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    load_status: Status | None = None
    """compile_error, runtime_error or wrong (interface) when the submission could not be loaded."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """About loading, and warnings; a failed test's stands with its outcome."""
    running_test: str | None = None
    """Test that had started and not finished when the child ended."""
    is_complete: bool = False
    """Whether the child said that it had finished."""
    channel_fault: str | None = None
    """Why the records could not be trusted to their end: malformed, too large, out of order."""
    end: End
    stack: str = ""
    """Python stack that faulthandler wrote at a crash or just before the wall clock struck."""
    output: str = ""
    """Tail of stdout and stderr."""
    output_dropped_bytes: int = 0
    wall_s: float = 0.0
    peak_rss_bytes: int | None = None
    device: str = "none"
    versions: dict[str, str] = Field(default_factory=dict)


class RunPair(Model):
    """The two runs of one judgement, and the conditions they share."""

    subject: RunRecord
    """The submission's run."""
    oracle: RunRecord
    """The reference's run of the same tests under the same seed."""
    device: DeviceChoice
    isolation: Isolation
    seed: int
    started_at: datetime
    wall_s: float
