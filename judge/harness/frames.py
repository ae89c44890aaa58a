"""Tracebacks cut down to what a learner can use: their own lines and the test's."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from types import CodeType, TracebackType
from typing import Any

from judge.harness.show import cut

CODE_LIMIT = 200
"""Characters of one shown line."""
KEPT_AT_EACH_END = 8
"""Frames that are shown of a long traceback, from either end."""

Stack = list[tuple[CodeType, int]]


class Owner(Enum):
    """Whose code a frame runs."""

    LEARNER = "learner"
    TESTS = "tests"
    JUDGE = "judge"
    """The harness, pytest and hypothesis."""
    OTHER = "other"
    """Libraries, and code made at run time."""


MACHINERY = ("judge.harness", "_pytest", "pluggy", "hypothesis")
PLUGINS = ("pytest_timeout.py", "_hypothesis_pytestplugin.py")


def _folder_of(module: str) -> str:
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    return os.path.dirname(file) + os.sep if file else ""  # noqa: PTH120  (hot, and strings are compared)


@dataclass(frozen=True)
class Sources:
    """Which file names belong to whom.

    Args:
        learner: name under which the solution was compiled.
        tests_dir: folder of the problem's tests.
    """

    learner: str
    tests_dir: str

    def owner_of(self, code: CodeType) -> Owner:
        """Return whose code it is."""
        return _owner_of_file(self, code.co_filename)

    def shown_name(self, code: CodeType) -> str:
        """Return the file's name as a report shows it: relative to the problem's folder."""
        if self.owner_of(code) is Owner.TESTS:
            return os.path.relpath(code.co_filename, self.tests_dir)
        return code.co_filename


@cache
def _owner_of_file(sources: Sources, name: str) -> Owner:
    if name == sources.learner:
        return Owner.LEARNER
    if name.startswith(sources.tests_dir.rstrip(os.sep) + os.sep):
        return Owner.TESTS
    folders = tuple(filter(None, map(_folder_of, MACHINERY)))
    return Owner.JUDGE if name.startswith(folders) or name.endswith(PLUGINS) else Owner.OTHER


@dataclass(frozen=True)
class Trace:
    """A stack, sorted by owner."""

    sources: Sources
    stack: Stack

    @cached_property
    def owners(self) -> list[Owner]:
        """Owner of each frame, outermost first."""
        return [self.sources.owner_of(code) for code, _line in self.stack]

    @cached_property
    def shown(self) -> Stack:
        """The learner's frames, and the test's that do not hide themselves as pytest has it, outermost first."""
        return [
            (code, line)
            for (code, line), owner in zip(self.stack, self.owners, strict=True)
            if owner is Owner.LEARNER or (owner is Owner.TESTS and "__tracebackhide__" not in code.co_varnames)
        ]

    @cached_property
    def learner(self) -> Stack:
        """The learner's frames, outermost first."""
        return [at for at, owner in zip(self.stack, self.owners, strict=True) if owner is Owner.LEARNER]

    def as_fields(self) -> dict[str, Any]:
        """Return ``frames`` and ``folded`` of a diagnostic; a long traceback loses its middle."""
        shown = self.shown
        if len(shown) > 2 * KEPT_AT_EACH_END:
            shown = shown[:KEPT_AT_EACH_END] + shown[-KEPT_AT_EACH_END:]
        frames = [describe_frame(self.sources, code, line) for code, line in shown]
        return {"frames": frames, "folded": len(self.stack) - len(frames)}


def describe_frame(sources: Sources, code: CodeType, line: int) -> dict[str, Any]:
    """Return the fields of one :class:`judge.models.record.Frame`."""
    text = linecache.getline(code.co_filename, line).strip()
    function = code.co_qualname.replace("<locals>.", "")
    return {
        "file": sources.shown_name(code),
        "line": line,
        "function": function,
        "code": cut(text, CODE_LIMIT)[0],
    }


def trace_of(fault: BaseException, sources: Sources) -> Trace:
    """Return where an exception was raised."""
    return Trace(sources, list(_walk(fault.__traceback__)))


def _walk(traceback: TracebackType | None) -> Iterable[tuple[CodeType, int]]:
    while traceback is not None:
        yield traceback.tb_frame.f_code, traceback.tb_lineno
        traceback = traceback.tb_next
