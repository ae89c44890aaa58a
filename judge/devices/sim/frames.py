"""The Python stack, in the form in which PyTorch's memory history keeps it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType

from judge.devices.sim.allocator.history import Frames

_OWN_FOLDER = str(Path(__file__).parent) + "/"

_own: dict[CodeType, bool] = {}


def gather_frames() -> Frames:
    """Return the frames of the caller without the simulation's own, innermost first.

    PyTorch keeps frames of C++ too when asked for ``stacks="all"``; here there are none.
    """
    frames: Frames = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        is_own = _own.get(code)
        if is_own is None:
            is_own = _own[code] = code.co_filename.startswith(_OWN_FOLDER)
        if not is_own:
            frames.append({"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
        frame = frame.f_back  # type: ignore[assignment]  # the loop ends at None
    return frames
