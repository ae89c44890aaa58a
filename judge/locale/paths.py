"""Paths as a person reads them: relative below the working directory, else absolute, with ``~`` for the home folder.

In data (JSON, JUnit, the attempt store) a path is absolute.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path


def make_absolute(path: Path) -> Path:
    """Return an absolute path without ``..``; symbolic links stay, but for those that ``..`` stands behind."""
    whole = path.absolute()
    return whole.resolve() if ".." in whole.parts else whole


def show_path(path: Path | str, here: Path | None = None) -> str:
    """Return a path for a person who stands in ``here``, by default the working directory."""
    try:
        here = here or Path.cwd()
        whole = make_absolute(here / path)
    except (OSError, RuntimeError):  # the working directory was removed, or links lead in a circle
        return str(path)
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  Path.home() fails where there is none
    if _is_below(whole, here):
        return str(whole.relative_to(here))
    return str("~" / whole.relative_to(home)) if _is_below(whole, home) else str(whole)


def quote_path(path: Path | str) -> str:
    """Return a path as a shell takes it: as it is shown, but that a quoted ``~`` would mean a folder of that name."""
    shown = show_path(path)
    return shlex.quote(str(path) if shown.startswith("~") else shown)


def _is_below(path: Path, folder: Path) -> bool:
    # All lies below the root: relative to it, a path would only lose its first character.
    return folder.is_absolute() and len(folder.parts) > 1 and path.is_relative_to(folder)
