"""A copy of the small pack that each test may break, and one run of its reference that all share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.author.bench import Bench, Candidate, Key
from judge.catalog.manifest import read_problem
from judge.devices.choice import choose
from judge.models.problem import Problem

SMALL = Path(__file__).parents[1] / "packs" / "small"
NAME = "901_double"
SEED = 20


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    """Return the small problem, in a copy of its own."""
    shutil.copytree(SMALL, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return read_problem(tmp_path / "problems" / NAME, tmp_path / "reference")


@pytest.fixture
def bench(problem: Problem) -> Bench:
    """Return a bench for the copy."""
    return Bench(problem, choose(problem), 2)


@pytest.fixture(scope="session")
def key() -> Key:
    """Return one run of the small problem's reference, for copies whose tests are as they were."""
    original = read_problem(SMALL / "problems" / NAME, SMALL / "reference")
    candidate = Candidate("solution.py", original.reference.read_bytes())
    pair, _verdict = Bench(original, choose(original), 2).judge_pair(candidate, SEED)
    return Key(pair.oracle, SEED)


@pytest.fixture
def ignore() -> Callable[[int, int], None]:
    """Return a listener that does not listen."""
    return lambda done, count: None
