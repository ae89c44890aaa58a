"""The user's own name for a stream, for advice that can be pasted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from judge.devices.sim.sites import is_foreign

MAX_FRAMES = 16
"""User frames that are searched, the innermost first."""


def find_variable(handle: int) -> str | None:
    """Return an expression of the user's code for the stream with a handle, or ``None`` if none is in sight.

    Local variables come first, then attributes of ``self``, then global variables; inner frames come before outer
    ones. A name that stands for another stream in a frame further in is no name for this one: advice would speak of
    two streams by one name. Only objects of torch's own classes are asked, so none of the user's code is run.
    """
    searched: list[object] = []
    taken: set[str] = set()
    for frame in _user_frames():
        owner = frame.f_locals.get("self")
        attributes = getattr(owner, "__dict__", {}) if owner is not None else {}
        for prefix, names in (("", frame.f_locals), ("self.", attributes), ("", frame.f_globals)):
            if any(names is other for other in searched) or not isinstance(names, dict):
                continue
            searched.append(names)
            streams = {f"{prefix}{name}": value.cuda_stream for name, value in _find_streams(names)}
            for name, stream in streams.items():
                if stream == handle and name not in taken:
                    return name
            taken |= streams.keys()
    return None


def _find_streams(names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the variables that are streams."""
    for name, value in list(names.items()):  # another thread may add a variable meanwhile
        kind = type(value)
        is_stream = _is_stream_class.get(kind)
        if is_stream is None:
            is_stream = _is_stream_class[kind] = _has_handle(kind)
        if is_stream:
            yield name, value


_is_stream_class: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def _has_handle(kind: type) -> bool:
    return hasattr(kind, "cuda_stream") and any(base.__module__.startswith("torch") for base in kind.__mro__)


def _user_frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    left = MAX_FRAMES
    while frame is not None and left:
        if not is_foreign(frame.f_code):
            left -= 1
            yield frame
        frame = frame.f_back
