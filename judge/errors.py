"""The judge's own exceptions.

What a learner's code does wrong is data (see ``judge.models``), never an exception.

    JudgeError                    base: a message, a place, a remedy; ends with exit 3
    ├── UsageError                the call can't be carried out as given; ends with exit 2
    │   ├── ProblemNotFound       no problem has that number or slug
    │   └── SubmissionUnreadable  the path is no file that can be judged
    ├── BrokenProblem             a problem folder breaks the rules of its manifest
    ├── MissingTool               an optional package is not installed
    └── JudgeFault                the judge, the reference or the machine failed
"""

from __future__ import annotations


class JudgeError(Exception):
    """A fault that is not the learner's.

    Args:
        what: one sentence that names the thing.
        place: file, line or key where it was found, or ``None``.
        remedy: one sentence that says what to do, or ``None``.
    """

    exit_code = 3

    def __init__(self, what: str, *, place: str | None = None, remedy: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.place = place
        self.remedy = remedy

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        then = f" {self.remedy}" if self.remedy else ""
        return f"{where}{self.what}{then}"


class UsageError(JudgeError):
    """The call can't be carried out as it was given."""

    exit_code = 2


class ProblemNotFound(UsageError):
    """No problem has the number or slug that was asked for."""


class SubmissionUnreadable(UsageError):
    """The path names no regular, readable file of an allowed size."""


class BrokenProblem(JudgeError):
    """A problem folder breaks a rule: unknown key, missing file, number that differs from its folder."""


class MissingTool(JudgeError):
    """A package that this command needs is not installed."""


class JudgeFault(JudgeError):
    """The judge itself, the reference solution or the machine failed."""
