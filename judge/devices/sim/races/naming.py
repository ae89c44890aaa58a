"""The user's own name for a stream, for advice that can be pasted."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import FrameType

from judge.devices.sim.sites import is_foreign

MAX_FRAMES = 40
"""User frames that are searched, the innermost first."""


def find_variable(handle: int) -> str | None:
    """Return an expression of the user's code for the stream with a handle, or ``None`` if none is in sight.

    Local variables come first, then attributes of ``self``, then global variables; inner frames come before outer
    ones. Only objects whose class has a ``cuda_stream`` are asked, so none of the user's code is run.
    """
    for frame in _user_frames():
        owner = frame.f_locals.get("self")
        attributes = getattr(owner, "__dict__", {}) if owner is not None else {}
        for prefix, names in (("", frame.f_locals), ("self.", attributes), ("", frame.f_globals)):
            for name, value in _copy(names):
                if _is_stream(value, handle):
                    return f"{prefix}{name}"
    return None


def _user_frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    left = MAX_FRAMES
    while frame is not None and left:
        if not is_foreign(frame.f_code):
            left -= 1
            yield frame
        frame = frame.f_back


def _copy(names: object) -> Iterable[tuple[str, object]]:
    # Another thread may add a variable meanwhile.
    return list(names.items()) if isinstance(names, dict) else ()


def _is_stream(value: object, handle: int) -> bool:
    kind = type(value)
    if not hasattr(kind, "cuda_stream") or not any(base.__module__.startswith("torch") for base in kind.__mro__):
        return False
    return bool(getattr(value, "cuda_stream", None) == handle)
