"""Where in the user's code something happened: the innermost frame that is neither torch's nor ours."""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib.util
import sys
import threading
from pathlib import Path
from types import CodeType
from typing import NamedTuple

_SIM_FOLDER = str(Path(__file__).parent)
_JUDGE_FOLDER = str(Path(__file__).parents[2])
_HELPER_FILES = frozenset(module.__file__ for module in (contextlib, copy, functools, threading))


class Site(NamedTuple):
    """A line of the user's code."""

    file: str
    """Path of the file, as its code object has it."""
    line: int
    """Line, from 1; 0 when there is no user frame."""
    function: str
    """Name of the function, ``<module>`` at top level."""


UNKNOWN = Site("?", 0, "?")
"""What a call without a user frame gets."""


def _find_torch() -> str:
    spec = importlib.util.find_spec("torch")
    folders = spec.submodule_search_locations if spec is not None else None
    return folders[0] + "/" if folders else "<no torch>"


_FOREIGN = (_SIM_FOLDER + "/", _JUDGE_FOLDER + "/", _find_torch(), "<frozen")
_known: dict[int, tuple[CodeType, dict[int, Site] | None]] = {}
"""Of each code object met so far, by identity, since hashing one takes longer than all the rest: the code itself, so
that its identity stays its own, and the sites found in it by instruction; ``None`` where the code is not the user's."""

_new = tuple.__new__
"""Makes a named tuple in half the time of its own constructor."""


def is_foreign(code: CodeType) -> bool:
    """Tell whether code is torch's, the judge's, or one of the standard library's wrappers."""
    return (_known.get(id(code)) or _learn(code))[1] is None


def _learn(code: CodeType) -> tuple[CodeType, dict[int, Site] | None]:
    name = code.co_filename
    is_users = not name.startswith(_FOREIGN) and name not in _HELPER_FILES
    entry = _known[id(code)] = code, {} if is_users else None
    return entry


def find_site(skipped: int = 0) -> Site:
    """Return the line of the user's code that is being run.

    Frames of torch, of the judge, and of the standard library's wrappers (``contextlib``, ``copy``, ``functools``,
    ``threading``) are passed over, so ``x.sum()`` inside a user's module is found behind any depth of torch.

    Args:
        skipped: frames, from the caller on, that are known to be foreign: making a frame visible takes time.
    """
    try:
        frame = sys._getframe(1 + skipped)
    except ValueError:  # there are no more: a thread of torch's own
        return UNKNOWN
    known = _known
    while frame is not None:
        code = frame.f_code
        entry = known.get(id(code)) or _learn(code)
        sites = entry[1]
        if sites is not None:
            at = frame.f_lasti
            site = sites.get(at)
            if site is None:  # the same line is the same object each time, and telling the line takes long
                site = sites[at] = _new(Site, (code.co_filename, frame.f_lineno, code.co_name))
            return site
        frame = frame.f_back  # type: ignore[assignment]  # the loop ends at None
    return UNKNOWN
