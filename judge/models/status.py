"""How a judgement can end, in one explicit order of severity."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Status(StrEnum):
    """Outcome of one test or of a whole judgement; later members are more severe."""

    ACCEPTED = "accepted"
    NOT_JUDGED = "not_judged"
    WRONG = "wrong"
    RUNTIME_ERROR = "runtime_error"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    NO_RESULT = "no_result"
    COMPILE_ERROR = "compile_error"
    JUDGE_ERROR = "judge_error"

    @property
    def severity(self) -> int:
        """Position in the order of severity, 0 for accepted."""
        return list(Status).index(self)

    @property
    def exit_code(self) -> int:
        """Exit status of the command line: 0 accepted, 1 not accepted, 3 judge fault, 4 not judged."""
        return {Status.ACCEPTED: 0, Status.NOT_JUDGED: 4, Status.JUDGE_ERROR: 3}.get(self, 1)


def worst(statuses: Iterable[Status]) -> Status:
    """Return the most severe status; no status at all is ``NO_RESULT``, never accepted."""
    return max(statuses, key=lambda status: status.severity, default=Status.NO_RESULT)
