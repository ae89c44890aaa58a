"""Children that are copies of one process: as private as those that begin from nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.catalog.manifest import read_problem
from judge.devices.choice import choose
from judge.models.record import EndKind, RunPair
from judge.models.status import Status
from judge.models.submission import Submission
from judge.runner.forkserver import open_fork_server
from judge.runner.nursery import Start, open_nursery
from judge.runner.pair import run_pair
from tests.runner.test_nursery import list_tree, read_descriptors, wait_for_child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no fork server elsewhere")

SMALL = Path(__file__).parents[1] / "packs" / "small"
PROBLEM = read_problem(SMALL / "problems" / "901_double", SMALL / "reference")
REFERENCE = PROBLEM.reference.read_bytes()


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Return what starts copies of a server that all tests share."""
    with open_fork_server("none", tmp_path_factory.mktemp("server")) as start:
        yield start


def run(start: Start, source: bytes = REFERENCE, only: tuple[str, ...] = ()) -> RunPair:
    """Judge a source in a copy, beside the reference in another one."""
    submission = Submission(source=source, shown_path="my.py", sha256="0" * 64)
    with open_nursery(2, start) as processes:
        return run_pair(PROBLEM, submission, device=choose(PROBLEM), seed=1, only=only, processes=processes)


def test_a_copy_reports_what_a_fresh_process_reports(start: Start) -> None:
    """The same tests, outcomes and evidence."""
    submission = Submission(source=REFERENCE, shown_path="my.py", sha256="0" * 64)
    fresh = run_pair(PROBLEM, submission, device=choose(PROBLEM), seed=1).subject
    copy = run(start).subject
    assert fresh.evidence == copy.evidence
    assert [one.status for one in fresh.outcomes] == [one.status for one in copy.outcomes]
    assert (fresh.end, fresh.versions, fresh.output) == (copy.end, copy.versions, copy.output)


def test_only_the_named_tests_run(start: Start) -> None:
    """All cases of one by its name; the oracle's run is whole."""
    test = PROBLEM_TESTS[0]
    pair = run(start, only=(test,))
    assert [test] == [one.test for one in pair.subject.outcomes]
    assert len(PROBLEM_TESTS) == len(pair.oracle.outcomes)


PROBLEM_TESTS = (
    "test_solution.py::test_a_list_is_doubled",
    "test_solution.py::test_a_counter_adds_up",
    "test_solution.py::test_fresh_numbers",
)


def test_a_copy_leaves_nothing_to_the_next_one(start: Start) -> None:
    """Modules, environment and working folder are a copy's own."""
    marks = b"\nimport os, sys\nos.environ['LITTER'] = '1'\nsys.modules['litter'] = sys\nopen('litter', 'w')\n"
    looks = b"\nimport os, sys\nprint('LITTER' in os.environ, 'litter' in sys.modules, os.listdir('.'))\n"
    assert [Status.ACCEPTED] * 3 == [one.status for one in run(start, REFERENCE + marks).subject.outcomes]
    assert "False False []" in run(start, REFERENCE + looks).subject.output


def test_a_copy_that_crashes_is_told_as_such(start: Start) -> None:
    """Its supervisor says how it ended, and the server lives on."""
    broken = run(start, REFERENCE + b"\nimport os\nos.abort()\n").subject
    assert (EndKind.SIGNALLED, "SIGABRT") == (broken.end.kind, broken.end.signal)
    assert [Status.ACCEPTED] * 3 == [one.status for one in run(start).subject.outcomes]


def test_what_was_never_asked_is_gone_with_the_nursery(start: Start) -> None:
    """No process and no folder is left."""
    with open_nursery(2, start) as processes:
        folders = [process.folder for process in processes]
        assert [2, 2] == [len(wait_for_child(process)) for process in processes]
    assert [[], []] == [list_tree(folder) for folder in folders]
    assert [False, False] == [folder.exists() for folder in folders]


def test_neither_copy_holds_the_pipes_of_the_other(start: Start) -> None:
    """Nor does the server keep them."""
    with open_nursery(2, start) as processes:
        for process, other in (processes, processes[::-1]):
            ends = (other.report, other.status, other.output)
            foreign = {str(Path(f"/proc/self/fd/{end}").readlink()) for end in ends}
            for number in wait_for_child(process):
                assert set() == set(read_descriptors(number)) & foreign


def test_the_end_of_the_server_ends_its_copies(tmp_path: Path) -> None:
    """As the end of the judge ends those that begin from nothing."""
    with open_fork_server("none", tmp_path) as start:
        nursery = open_nursery(1, start)
        (process,) = nursery.__enter__()
        wait_for_child(process)
    deadline = time.monotonic() + 10
    while list_tree(process.folder) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [] == list_tree(process.folder)
    nursery.__exit__(None, None, None)
