"""The private directory of one child: copies of what it may see, and nothing else."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from judge.models.problem import Problem

NOT_FOR_THE_CHILD = shutil.ignore_patterns("__pycache__", ".*", "README*", "hints.toml", "problem.toml", "stub.py")


@dataclass(frozen=True)
class Workspace:
    """Paths inside one private directory, which is removed when the run has ended."""

    tests: Path
    """Copy of the problem's tests and their data."""
    solution: Path
    """Copy of the source to judge."""
    stub: Path
    """Copy of the stub, from which the expected interface is read."""
    scratch: Path
    """Working directory, home and temporary directory of the child."""


@contextmanager
def open_workspace(problem: Problem, source: bytes) -> Iterator[Workspace]:
    """Make the private directory of one child, and remove it at the end whatever the child did to it."""
    root = Path(tempfile.mkdtemp(prefix="tacit-"))
    try:
        workspace = Workspace(
            tests=root / "tests", solution=root / "solution.py", stub=root / "stub.py", scratch=root / "scratch"
        )
        shutil.copytree(problem.folder, workspace.tests, ignore=NOT_FOR_THE_CHILD)
        shutil.copyfile(problem.stub, workspace.stub)
        workspace.solution.write_bytes(source)
        workspace.scratch.mkdir()
        yield workspace
    finally:
        _remove(root)


def _remove(root: Path) -> None:
    """Remove a tree in which folders may have lost their permissions."""
    for folder, names, _ in os.walk(root):
        for name in names:
            inner = Path(folder, name)
            if not inner.is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(root, ignore_errors=True)
