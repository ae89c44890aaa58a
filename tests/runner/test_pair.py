"""When the two runs of a judgement take place."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from judge.catalog.manifest import read_problem
from judge.models.base import Text
from judge.models.conditions import DeviceChoice
from judge.models.record import RunRecord
from judge.models.submission import Submission
from judge.runner.pair import run_pair
from tests.catalog.packing import write_problem

TESTS = '''
import time

def test_takes_time(solution, evidence):
    """It sleeps."""
    evidence.exact("begun", time.monotonic())
    time.sleep(0.5)
    evidence.exact("ended", time.monotonic())
'''


@pytest.mark.parametrize(("kind", "is_in_turn"), [("none", False), ("cuda", True)])
def test_the_runs_take_turns_on_a_gpu_alone(kind: Literal["none", "cuda"], is_in_turn: bool, tmp_path: Path) -> None:
    """Two processes on one GPU would spoil each other's times; elsewhere they run side by side."""
    folder = write_problem(tmp_path, files={"test_solution.py": TESTS})
    problem = read_problem(folder, tmp_path / "reference")
    submission = Submission(source=problem.reference.read_bytes(), shown_path="my.py", sha256="0" * 64)
    device = DeviceChoice(kind=kind, why=Text(en="asked", zh="指定"))
    pair = run_pair(problem, submission, device=device)
    assert [1, 1] == [len(record.outcomes) for record in (pair.subject, pair.oracle)]
    assert is_in_turn == (read(pair.subject, "ended") < read(pair.oracle, "begun"))


def test_a_submission_that_cannot_be_loaded_ends_both(tmp_path: Path) -> None:
    """The reference is not asked then, on a GPU either."""
    folder = write_problem(tmp_path, files={"test_solution.py": TESTS})
    problem = read_problem(folder, tmp_path / "reference")
    submission = Submission(source=b"1 +", shown_path="my.py", sha256="0" * 64)
    pair = run_pair(problem, submission, device=DeviceChoice(kind="cuda", why=Text(en="asked", zh="指定")))
    assert ((), ()) == (pair.subject.outcomes, pair.oracle.evidence)


def read(record: RunRecord, name: str) -> float:
    """Return a moment that a run wrote down."""
    (value,) = (item.value for item in record.evidence if item.name == name)
    assert isinstance(value, float)
    return value
