"""The suite's own parts: the result file, and programs in processes of their own."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from tests.conformance.processes import Done, run_programs
from tests.conformance.result import ResultFile

pytestmark = pytest.mark.bookkeeping


def report(name: str, outcome: str = "passed", when: str = "call", **more: object) -> SimpleNamespace:
    """Return what pytest tells of one phase of a test."""
    flags = {f"is_{kind}": outcome == kind for kind in ("failed", "skipped")}
    return SimpleNamespace(
        nodeid=f"tests/conformance/{name}",
        when=when,
        failed=flags["is_failed"],
        skipped=flags["is_skipped"],
        keywords=more.pop("keywords", {}),
        longrepr=more.pop("longrepr", None),
        **more,
    )


@pytest.fixture
def results(tmp_path):
    """Return the groups of the file that is written after some reports."""

    def write(*reports: SimpleNamespace) -> dict:
        target = tmp_path / "deep" / "result.json"
        plugin = ResultFile(target, "sim")
        for one in reports:
            plugin.pytest_runtest_logreport(one)
        plugin.pytest_sessionfinish()
        return json.loads(target.read_text(encoding="utf-8"))["groups"]

    return write


def test_rows_are_counted_by_folder(results):
    """What agrees is counted, what does not is named with its reason; other tests are no rows."""
    found = results(
        report("edges/test_a.py::test_x[one]", when="setup"),
        report("edges/test_a.py::test_x[one]"),
        report("edges/test_a.py::test_x[two]", "failed", longrepr="\n\x1b[31massert 1 == 2\x1b[0m\nmore"),
        report("edges/test_a.py::test_x[three]", "skipped", "setup", longrepr=("a.py", 3, "Skipped: no NumPy")),
        report("edges/test_a.py::test_x[four]", "skipped", wasxfail="reason: the driver's choice"),
        report("edges/test_a.py::test_all", keywords={"bookkeeping": 1}),
        report("test_result.py::test_y"),
        report("costs/test_b.py::test_z"),
    )
    none = {"disagree": {}, "known": {}, "skipped": {}}
    expected = {
        "costs": {"rows": 1, "agree": 1, **none},
        "edges": {
            "rows": 4,
            "agree": 1,
            "disagree": {"test_a.py::test_x[two]": "assert 1 == 2"},
            "known": {"test_a.py::test_x[four]": "the driver's choice"},
            "skipped": {"test_a.py::test_x[three]": "no NumPy"},
        },
    }
    assert expected == found


def test_a_failure_at_the_tidying_up_is_a_disagreement(results):
    """The row does not count as agreeing any more."""
    found = results(
        report("edges/test_a.py::test_x"),
        report("edges/test_a.py::test_x", "failed", "teardown", longrepr="it leaks"),
    )
    assert {"test_a.py::test_x": "it leaks"} == found["edges"]["disagree"]
    assert 0 == found["edges"]["agree"]


def test_programs_end_as_under_python_c():
    """Output, error text and exit status of each are its own."""
    printed, failed, left = run_programs(["print(torch.ones(2).sum().item())", "1 / 0", "import sys; sys.exit(3)"])
    assert Done(0, "2.0\n", "") == printed
    assert (1, "") == failed[:2]
    assert failed.err.endswith("ZeroDivisionError: division by zero\n")
    assert 3 == left.returncode
