"""Twenty public reports of people bitten by the runtime: the fault shows, and its mended twin is silent."""

from __future__ import annotations

import re

import pytest

torch = pytest.importorskip("torch")

from tests.conformance.reports import captures, copies, graphs, measuring, memory, streams  # noqa: E402  # need torch
from tests.conformance.reports.conftest import Observation, Outcome  # noqa: E402
from tests.conformance.reports.report import Report  # noqa: E402

REPORTS = tuple(
    report for module in (copies, streams, memory, graphs, captures, measuring) for report in module.REPORTS
)


@pytest.mark.parametrize("report", REPORTS, ids=[report.name for report in REPORTS])
def test_the_fault_shows(report: Report, observation: Observation) -> None:
    """The faulty program gives wrong values or an error, and the simulated device names each race."""
    outcome = observation.run(report.faulty)
    assert re.search(report.error or "^$", outcome.error), outcome.error
    if observation.is_simulated:
        assert report.races == outcome.races
    if not report.error:
        # A race that went well here: the second look says how it could have ended.
        is_lucky = observation.is_simulated and not report.is_wrong_on_sim
        assert outcome.is_doubted if is_lucky else outcome.is_wrong


@pytest.mark.parametrize("report", REPORTS, ids=[report.name for report in REPORTS])
def test_the_mended_program_is_right_and_silent(report: Report, observation: Observation) -> None:
    """With the right fix the values are right, nothing raises, and no race is told."""
    assert Outcome(is_wrong=False, error="", races=()) == observation.run(report.mended)
