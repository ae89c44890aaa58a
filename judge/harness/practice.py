"""The solution of a plain ``pytest`` run, which a learner starts to debug."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from judge.harness.diagnostic import text
from judge.harness.frames import Sources
from judge.harness.loading import load_solution
from judge.harness.syntax import LoadFailure
from judge.locale import choose_language

NOT_LOADED = 1
"""Exit status when the solution can't be loaded."""


def load_practice(folder: Path, given: str | None, *, is_worker: bool) -> ModuleType:
    """Return the solution for the problem in ``folder``.

    Args:
        folder: the problem's folder.
        given: file of ``--submission``, if it was given.
        is_worker: whether this is a worker of pytest-xdist.

    Raises:
        pytest.exit.Exception: there is none, or it can't be loaded: one message, not one a test.
    """
    language = choose_language((), os.environ)
    path = Path(given) if given else folder.parent.parent / "practice" / f"{folder.name}.py"
    if not path.is_file():
        default = f"practice/{folder.name}.py"
        message = text("no_submission", path=str(path), default=default)[language]
        raise _end(message, pytest.ExitCode.USAGE_ERROR, is_worker=is_worker)
    filename = str(path.resolve())
    shown = os.path.relpath(filename)
    stub = (folder / "stub.py").read_text(encoding="utf-8")
    try:
        sources = Sources(filename, str(folder))
        return load_solution(path.read_bytes(), stub, sources, shown_path=shown, file=filename).module
    except LoadFailure as failure:
        found = failure.diagnostic
    raise _end(_told(found, language), NOT_LOADED, is_worker=is_worker)


def _end(message: str, status: int, *, is_worker: bool) -> BaseException:
    if is_worker:
        return pytest.fail.Exception(message, pytrace=False)  # pytest-xdist loses the reason of an exit
    return pytest.exit.Exception(message, returncode=status)


def _told(found: dict[str, Any], language: str) -> str:
    """Return a diagnostic as plain lines."""
    lines = [found["what"][language]]
    lines += [f"  {text(name)[language]}: {found[name]}" for name in ("expected", "actual") if found[name]]
    lines += [f"  {frame['file']}:{frame['line']}  {frame['code']}" for frame in found["frames"]]
    lines += [found[name][language] for name in ("picture", "look") if found[name]]
    return "\n".join(lines)
