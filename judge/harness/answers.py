"""What the values were in the line of the test that could not go on."""

from __future__ import annotations

import keyword
import linecache
import re
from types import FrameType, FunctionType, ModuleType

from judge.harness.frames import Owner, Sources
from judge.harness.show import show

MOST_NAMES = 4
_NAME = re.compile(r"(?<![\w.\"'])[^\W\d]\w*")


def explain_answer(fault: BaseException, sources: Sources) -> str | None:
    """Return ``name = value`` for the local names of the innermost line of the test, or ``None``."""
    frame, line = _last_test_frame(fault, sources)
    if frame is None:
        return None
    text = linecache.getline(frame.f_code.co_filename, line)
    found = []
    for name in dict.fromkeys(_NAME.findall(text)):
        if keyword.iskeyword(name) or name not in frame.f_locals:
            continue
        value = frame.f_locals[name]
        if not isinstance(value, ModuleType | FunctionType | type) and not _is_fixture(value):
            found.append(f"{name} = {show(value, 300)}")
    return "\n".join(found[:MOST_NAMES]) or None


def _is_fixture(value: object) -> bool:
    return type(value).__module__.startswith("judge.")


def _last_test_frame(fault: BaseException, sources: Sources) -> tuple[FrameType | None, int]:
    found: tuple[FrameType | None, int] = (None, 0)
    traceback = fault.__traceback__
    while traceback is not None:
        if sources.owner_of(traceback.tb_frame.f_code) is Owner.TESTS:
            found = (traceback.tb_frame, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found
