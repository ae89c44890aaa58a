"""Whose code a file is: the user's, or torch's, Python's own and ours."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path

_JUDGE = str(Path(__file__).parents[2]) + os.sep
_STANDARD = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120  (compared as text)


@cache
def is_users(file: str) -> bool:
    """Return whether a file is the user's own."""
    spec = importlib.util.find_spec("torch")
    torch = tuple(f"{folder}{os.sep}" for folder in (spec.submodule_search_locations or ())) if spec else ()
    if file.startswith(("<frozen", "<unknown", "??", _JUDGE, *torch)) or not file.endswith((".py", ">")):
        return False
    return not file.startswith(_STANDARD) or "site-packages" in file
