"""Warnings of torch's own that name the line of ours through which its call went: they name the user's."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from judge.devices.sim.sites import find_site

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

OWN_FOLDER = str(Path(__file__).parents[3]) + "/"

Show = Callable[[warnings.WarningMessage], None]


def install(simulation: Simulation, patches: Patches) -> None:
    """Put the user's line in the place of ours in every warning that is about to be shown or recorded."""
    del simulation
    if hasattr(warnings, "_showwarnmsg"):  # what the interpreter calls, whoever shows or records
        patches.wrap(warnings, "_showwarnmsg", _blame_user)


def _blame_user(show: Show) -> Show:
    @functools.wraps(show)
    def show_at_site(message: warnings.WarningMessage) -> None:
        site = find_site() if message.filename.startswith(OWN_FOLDER) else None
        if site is None or not site.line:
            show(message)
            return
        # C code blames the innermost frame of Python's. The warning begins anew at the user's line, so that filters,
        # and what was said before, count there and not here.
        _forget(_find_frame(message.filename))
        frame = _find_frame(site.file)
        registry = None if frame is None else frame.f_globals.setdefault("__warningregistry__", {})
        warnings.warn_explicit(message.message, message.category, site.file, site.line, registry=registry)

    return show_at_site


def _forget(frame: FrameType | None) -> None:
    registry: dict[Any, Any] | None = None if frame is None else frame.f_globals.get("__warningregistry__")
    if registry is not None:
        registry.clear()


def _find_frame(file: str) -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return frame
