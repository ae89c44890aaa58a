"""From an exception to a status and a diagnostic that a learner can act on."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from _pytest.outcomes import Skipped

from judge.harness.answers import explain_answer
from judge.harness.asserts import Compared, read_sides
from judge.harness.diagnostic import Text, diagnostic, text
from judge.harness.expect import Mismatch
from judge.harness.frames import Owner, Sources, Trace, describe_frame, trace_of
from judge.harness.keyboard import is_reading_keyboard
from judge.harness.show import MESSAGE_LIMIT, cut, message_of
from judge.models.status import Status


class Escape(Exception):
    """Carries an exception that would have ended the session (exit, Ctrl-C) to its diagnosis."""


class NotJudged(Skipped):
    """The judge skips a test, with the reason in both languages."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason["en"], _use_item_location=True)
        self.reason = reason


@dataclass(frozen=True)
class Finding:
    """How a test ended, and why."""

    status: Status
    diagnostic: dict[str, Any]


_ENDINGS = (SystemExit, KeyboardInterrupt, GeneratorExit, pytest.exit.Exception)


def diagnose(fault: BaseException, sources: Sources, compared: Compared | None = None) -> Finding:
    """Explain what a test raised; ``compared`` is the last comparison that pytest explained."""
    fault, trace = _innermost(fault, sources)
    last = next((owner for owner in reversed(trace.owners) if owner is not Owner.OTHER), None)
    if isinstance(fault, Mismatch):
        return _mismatch(fault, trace)
    if isinstance(fault, pytest.skip.Exception | pytest.xfail.Exception) or _is_unittest_skip(fault):
        return _skip(fault, trace)
    if isinstance(fault, pytest.fail.Exception) and not trace.learner and trace.shown:
        what = text("assertion", message=_one_line(fault))
        return Finding(Status.WRONG, diagnostic("mismatch", what, picture=_notes(fault), **trace.as_fields()))
    if isinstance(fault, _ENDINGS):
        return _exception(fault, trace, text("ends_process", name=type(fault).__name__))
    if isinstance(fault, NotImplementedError) and last is Owner.LEARNER and _is_hole(trace):
        return _hole(trace)
    if isinstance(fault, AssertionError):
        return _own_assertion(fault, trace) if last is Owner.LEARNER else _assertion(fault, trace, compared)
    if trace.learner:
        return _exception(fault, trace, _look_for(fault, trace))
    if trace.shown:
        return _answer(fault, trace)
    what = text("judge_fault", name=type(fault).__name__, message=_one_line(fault))
    frames = [describe_frame(sources, code, line) for code, line in trace.stack[-3:]]
    return Finding(Status.JUDGE_ERROR, diagnostic("judge", what, frames=frames))


def diagnose_timeout(trace: Trace, limit_s: float) -> Finding:
    """Explain a test that was still running when its clock struck."""
    fields = trace.as_fields()
    line = fields["frames"][-1] if fields["frames"] else None
    place = {"line": line["line"], "code": line["code"]} if line else {}
    is_keyboard = is_reading_keyboard(trace.stack)
    name = "timeout_keyboard" if is_keyboard else "timeout"
    what = text(f"{name}_at" if line else name, limit_s=f"{limit_s:g}", **place)
    look = text("look_keyboard" if is_keyboard else "look_timeout")
    return Finding(Status.TIMED_OUT, diagnostic("timeout", what, look=look, **fields))


def _innermost(fault: BaseException, sources: Sources) -> tuple[BaseException, Trace]:
    """Unwrap escapes, and take the first of several failures, with the way that led to it."""
    if isinstance(fault, Escape) and fault.__cause__ is not None:
        fault = fault.__cause__
    stack = trace_of(fault, sources).stack
    for _depth in range(100):
        if not isinstance(fault, BaseExceptionGroup):
            break
        first = fault.exceptions[0]
        for note in getattr(fault, "__notes__", ()):
            first.add_note(note)
        fault = first
        stack = stack + trace_of(fault, sources).stack
    return fault, Trace(sources, stack)


def _mismatch(fault: Mismatch, trace: Trace) -> Finding:
    cause = fault.__cause__
    fields = trace.as_fields()
    if cause is not None:
        fields["frames"] += [
            describe_frame(trace.sources, code, line) for code, line in trace_of(cause, trace.sources).learner[-4:]
        ]
    found = diagnostic(
        "mismatch",
        fault.what,
        expected=fault.expected,
        actual=fault.actual,
        look=fault.look,
        picture=fault.picture or _notes(fault),
        **fields,
    )
    return Finding(Status.WRONG, found)


def _skip(fault: BaseException, trace: Trace) -> Finding:
    """A skip is the problem's only when nothing but the test and the machinery took part in it."""
    if any(owner in (Owner.LEARNER, Owner.OTHER) for owner in trace.owners):
        return _exception(fault, trace, text("ends_test", name=type(fault).__name__))
    what = fault.reason if isinstance(fault, NotJudged) else text("skipped", reason=_one_line(fault))
    return Finding(Status.NOT_JUDGED, diagnostic("skipped", what))


def _is_unittest_skip(fault: BaseException) -> bool:
    unittest = sys.modules.get("unittest")
    return unittest is not None and isinstance(fault, unittest.SkipTest)


def _is_hole(trace: Trace) -> bool:
    """Whether the learner's own ``raise`` made it, and not a library that lacks an operation."""
    code, line = trace.stack[-1]
    is_own = trace.owners[-1] is Owner.LEARNER and code.co_name != "<module>"
    return is_own and "NotImplementedError" in linecache.getline(code.co_filename, line)


def _hole(trace: Trace) -> Finding:
    code, _line = trace.stack[-1]
    what = text("not_written", function=code.co_qualname.replace("<locals>.", ""))
    return Finding(Status.WRONG, diagnostic("exception", what, **trace.as_fields()))


def _own_assertion(fault: AssertionError, trace: Trace) -> Finding:
    code, line = trace.learner[-1]
    what = text("own_assertion", message=_one_line(fault) or linecache.getline(code.co_filename, line).strip())
    return Finding(Status.WRONG, diagnostic("exception", what, picture=_notes(fault), **trace.as_fields()))


def _assertion(fault: AssertionError, trace: Trace, compared: Compared | None) -> Finding:
    whole, is_cut = cut(message_of(fault), MESSAGE_LIMIT)
    picture = _notes(fault) or (whole if "\n" in whole else None)
    expected, actual = read_sides(trace, compared) or (None, None)
    what = text("assertion", message=_one_line(fault) or "assert")
    found = diagnostic(
        "mismatch", what, expected=expected, actual=actual, picture=picture, is_cut=is_cut, **trace.as_fields()
    )
    return Finding(Status.WRONG, found)


def _exception(fault: BaseException, trace: Trace, look: Text | None) -> Finding:
    shown, is_cut = cut(message_of(fault), MESSAGE_LIMIT)
    raised = f"{type(fault).__name__}: {shown}" if shown else type(fault).__name__
    learner = trace.learner
    if learner:
        function = learner[-1][0].co_qualname.replace("<locals>.", "")
        name = "raised_at_import" if function == "<module>" else "raised"
        what = text(name, function=function, raised=raised)
    else:
        what = text("raised_somewhere", raised=raised)
    found = diagnostic("exception", what, look=look, picture=_notes(fault), is_cut=is_cut, **trace.as_fields())
    return Finding(Status.RUNTIME_ERROR, found)


def _look_for(fault: BaseException, trace: Trace) -> Text | None:
    if isinstance(fault, RecursionError):
        return text("look_recursion", function=trace.learner[-1][0].co_qualname)
    if isinstance(fault, EOFError):
        return text("look_keyboard")
    if isinstance(fault, ModuleNotFoundError) and fault.name:
        return text("look_module", module=fault.name)
    if isinstance(fault, AttributeError | TypeError) and "NoneType" in message_of(fault):
        return text("look_none")
    if isinstance(fault, NotImplementedError):
        return text("look_unsupported")
    return None


def _answer(fault: BaseException, trace: Trace) -> Finding:
    """The test itself raised: what the solution gave it could not be used."""
    shown, is_cut = cut(message_of(fault), MESSAGE_LIMIT)
    code, line = trace.shown[-1]
    raised = f"{type(fault).__name__}: {shown}"
    what = text("answer", raised=raised, code=linecache.getline(code.co_filename, line).strip())
    actual = explain_answer(fault, trace.sources)
    look = text("look_none") if "NoneType" in shown else None
    found = diagnostic(
        "mismatch", what, actual=actual, look=look, picture=_notes(fault), is_cut=is_cut, **trace.as_fields()
    )
    return Finding(Status.WRONG, found)


def _one_line(fault: BaseException) -> str:
    return cut(message_of(fault), MESSAGE_LIMIT)[0].partition("\n")[0]


FIXTURES = ("solution", "evidence", "expect", "measure", "rng", "device", "seed")


def _notes(fault: BaseException) -> str | None:
    """Return the notes of an exception; hypothesis puts the falsifying example there."""
    notes = getattr(fault, "__notes__", None)
    if not isinstance(notes, list):
        return None
    lines = list(_lines_of(notes))
    return "\n".join(lines) or None


def _lines_of(notes: list[object]) -> Iterator[str]:
    for note in notes:
        if type(note) is not str or note.startswith("You can reproduce this"):
            continue
        for line in note.splitlines():
            if not line.lstrip().startswith(tuple(f"{name}=" for name in FIXTURES)):
                yield line
