"""Explain how a run ended when it did not end well."""

from __future__ import annotations

import re

from judge.locale import pair
from judge.models.base import Text
from judge.models.problem import Limits
from judge.models.record import Diagnostic, DiagnosticKind, EndKind, Frame, RunRecord
from judge.models.status import Status

SIGNAL_MEANINGS = {
    "SIGSEGV": "segv",
    "SIGBUS": "segv",
    "SIGABRT": "abrt",
    "SIGFPE": "fpe",
    "SIGKILL": "kill",
    "SIGXFSZ": "xfsz",
}

STACK_LINE = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$', re.MULTILINE)


def text(key: str, **values: object) -> Text:
    """Return a message of this layer in both languages."""
    return Text(**pair(f"verdict.{key}", **values))


def explain_end(
    run: RunRecord, limits: Limits, shown_path: str, source: bytes = b""
) -> tuple[Status, Diagnostic] | None:
    """Return what a run that did not complete ended as, and why; ``None`` when it completed.

    Args:
        run: the record.
        limits: what the run was allowed.
        shown_path: path of the submission, as its frames name it.
        source: the submission's text, for the lines of those frames.
    """
    frames = find_frames(run.stack, shown_path, source)
    end = run.end
    if end.kind is EndKind.TEST_CLOCK:
        what = text("load_timed_out", limit_s=limits.load_s)
        if run.tests:
            what = text("test_timed_out", limit_s=limits.test_s)
        return Status.TIMED_OUT, _diagnose(DiagnosticKind.TIMEOUT, what, frames, "timed_out_look")
    if end.kind is EndKind.WALL_CLOCK:
        what = text("run_timed_out", limit_s=limits.wall_s)
        return Status.TIMED_OUT, _diagnose(DiagnosticKind.TIMEOUT, what, frames, "timed_out_look")
    if run.channel_fault is not None:
        what = text("channel_fault", detail=run.channel_fault)
        return Status.NO_RESULT, _diagnose(DiagnosticKind.NO_RESULT, what, (), "no_evidence_look")
    if run.is_complete:
        return None
    if not run.versions:
        # The greeting comes before the solution is touched: what broke earlier is ours.
        return Status.JUDGE_ERROR, _diagnose(DiagnosticKind.JUDGE, text("never_started"), (), "report_it")
    if end.kind is EndKind.SIGNALLED and end.signal is not None:
        meaning = text(f"signal_{SIGNAL_MEANINGS.get(end.signal, 'other')}")
        what = Text(
            en=text("crashed", signal=end.signal, meaning=meaning.en).en,
            zh=text("crashed", signal=end.signal, meaning=meaning.zh).zh,
        )
        look = "crashed_look" if frames else "crashed_nowhere_look"
        return Status.CRASHED, _diagnose(DiagnosticKind.CRASH, what, frames, look)
    what = text("exited", code=end.exit_code)
    return Status.NO_RESULT, _diagnose(DiagnosticKind.NO_RESULT, what, frames, "exited_look")


def find_frames(stack: str, shown_path: str, source: bytes) -> tuple[Frame, ...]:
    """Return the submission's frames of faulthandler's last dump, outermost first."""
    lines = source.decode("utf-8", "replace").splitlines()
    # "most recent call first" heads each dump; the last dump is the one that matters.
    last = stack.rpartition("most recent call first")[2]
    frames = [
        Frame(file=match["file"], line=line, function=match["function"], code="".join(lines[line - 1 : line]).strip())
        for match in STACK_LINE.finditer(last)
        if match["file"] == shown_path and (line := int(match["line"])) > 0
    ]
    return tuple(reversed(frames))


def _diagnose(kind: DiagnosticKind, what: Text, frames: tuple[Frame, ...], look: str) -> Diagnostic:
    return Diagnostic(kind=kind, what=what, frames=frames, look=text(look))
