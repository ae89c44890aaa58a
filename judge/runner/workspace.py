"""The private directory of one child: copies of what it may see, and nothing else."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from judge.models.problem import Problem

NOT_FOR_THE_CHILD = shutil.ignore_patterns("__pycache__", ".*", "README*", "hints.toml", "problem.toml", "stub.py")


@dataclass(frozen=True)
class Workspace:
    """Paths inside one private directory, which is removed with its process."""

    tests: Path
    """Copy of the problem's tests and their data."""
    solution: Path
    """Copy of the source to judge."""
    stub: Path
    """Copy of the stub, from which the expected interface is read."""
    scratch: Path
    """Working directory, home and temporary directory of the child."""


def fill_workspace(folder: Path, scratch: Path, problem: Problem, source: bytes) -> Workspace:
    """Copy into a child's private folder what it may see."""
    workspace = Workspace(
        tests=folder / "tests", solution=folder / "solution.py", stub=folder / "stub.py", scratch=scratch
    )
    shutil.copytree(problem.folder, workspace.tests, ignore=NOT_FOR_THE_CHILD)
    shutil.copyfile(problem.stub, workspace.stub)
    workspace.solution.write_bytes(source)
    return workspace
