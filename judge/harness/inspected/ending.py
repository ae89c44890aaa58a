"""How a script ended, as data, and tracebacks without the judge's frames."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

JUDGE_FOLDER = str(Path(__file__).parents[2]) + os.sep
MESSAGE_LIMIT = 2000
"""Characters that are kept of an exception's text."""


def _find_torch() -> str:
    spec = importlib.util.find_spec("torch")
    folders = spec.submodule_search_locations if spec is not None else None
    return str(folders[0]) + os.sep if folders else "<no torch>"


def describe_syntax(fault: Exception, path: str) -> dict[str, Any]:
    """Return the error of a source that could not be compiled."""
    line = fault.lineno if isinstance(fault, SyntaxError) else None
    message = fault.msg if isinstance(fault, SyntaxError) else str(fault)
    return {"kind": "syntax", "type": type(fault).__name__, "message": _cut(message), "file": path, "line": line}


def describe_exception(fault: BaseException, kind: str = "exception") -> dict[str, Any]:
    """Return the error of an exception that the script did not catch, with the innermost line of the user's."""
    file, line = find_place(fault.__traceback__)
    return {"kind": kind, "type": type(fault).__name__, "message": _say(fault), "file": file, "line": line}


def describe_exit(ending: SystemExit) -> dict[str, Any]:
    """Return the error of a ``sys.exit`` that meant a failure."""
    return describe_exception(ending, "exit") | {"message": _cut(str(ending.code))}


def find_place(traceback: TracebackType | None) -> tuple[str | None, int | None]:
    """Return file and line of the innermost frame that is neither the judge's, torch's nor Python's own."""
    foreign = (JUDGE_FOLDER, _find_torch(), "<frozen")
    file = line = None
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if not name.startswith(foreign):
            file, line = name, traceback.tb_lineno
        traceback = traceback.tb_next
    return file, line


def strip_frames(fault: BaseException) -> None:
    """Take the judge's frames out of the traceback of an exception, and of those that it names as its causes."""
    for one in _walk_causes(fault):
        one.__traceback__ = _strip(one.__traceback__)


def _walk_causes(fault: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    todo: list[BaseException | None] = [fault]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        todo += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            todo += one.exceptions


def _strip(traceback: TracebackType | None) -> TracebackType | None:
    kept = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(JUDGE_FOLDER):
            kept.append(traceback)
        traceback = traceback.tb_next
    rebuilt = None
    for one in reversed(kept):
        rebuilt = TracebackType(rebuilt, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return rebuilt


def _say(fault: BaseException) -> str:
    try:
        return _cut(str(fault))
    except Exception:
        return ""  # an exception whose text can't be had


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_LIMIT else text[:MESSAGE_LIMIT] + "…"
