"""Turn judged tests into the four scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from judge.models.base import Text
from judge.models.problem import Problem
from judge.models.record import TestCase
from judge.models.status import Status
from judge.models.verdict import Score, TestVerdict
from judge.verdict.ending import text

MEASURED_BY = {"syncs": "syncs", "memory": "memory_bytes", "time": "time_ratio"}
"""Which measurement feeds which score."""

UNITS = {"syncs": "host waits", "memory": "bytes", "time": "×"}

ScoreName = Literal["correctness", "syncs", "memory", "time"]
MEASURED: tuple[ScoreName, ...] = ("syncs", "memory", "time")


def score_tests(problem: Problem, tests: Sequence[TestVerdict], cases: Sequence[TestCase]) -> tuple[Score, ...]:
    """Return correctness, syncs, memory and time, each with whether it was really judged."""
    return (_score_correctness(problem, tests), *(_score_measured(name, problem, tests, cases) for name in MEASURED))


def total_of(scores: Sequence[Score]) -> float | None:
    """Return the weighted points of the judged scores, or ``None`` when nothing was judged."""
    judged = [score for score in scores if score.is_judged and score.weight > 0]
    weight = sum(score.weight for score in judged)
    return sum(score.weight * (score.points or 0.0) for score in judged) / weight if weight else None


def _score_correctness(problem: Problem, tests: Sequence[TestVerdict]) -> Score:
    judged = [test for test in tests if test.status is not Status.NOT_JUDGED or test.duration_s is None]
    whole = sum(test.weight for test in judged)
    passed = sum(test.weight for test in judged if test.status is Status.ACCEPTED)
    return Score(
        name="correctness",
        weight=problem.weights.correctness,
        is_judged=whole > 0,
        points=passed / whole if whole else None,
        measured=passed if whole else None,
        budget=whole if whole else None,
        note=_note_correctness(judged),
    )


def _note_correctness(judged: Sequence[TestVerdict]) -> Text | None:
    if not judged:
        return text("score_no_run")
    return text("score_weighted") if any(test.weight != 1 for test in judged) else None


def _score_measured(
    name: ScoreName, problem: Problem, tests: Sequence[TestVerdict], cases: Sequence[TestCase]
) -> Score:
    weight = getattr(problem.weights, name)
    if weight == 0:
        return Score(name=name, weight=0, is_judged=False, unit=UNITS[name], note=text("score_not_applicable"))
    figure = MEASURED_BY[name]
    budgets = {case.id: case.budget[figure] for case in cases if figure in case.budget}
    taken = {
        test.id: [item.value for item in test.measurements if item.name == figure]
        for test in tests
        if test.id in budgets
    }
    if any(test.id in budgets and not taken[test.id] and _is_failed(test) for test in tests):
        # A figure that the submission's own failure kept from being taken counts nothing; left out, it would pay.
        return Score(
            name=name,
            weight=weight,
            is_judged=True,
            points=0.0,
            budget=min(budgets.values()),
            unit=UNITS[name],
            note=text("score_test_failed"),
        )
    measured = [
        (point_of(value, budgets[id_]), value, budgets[id_]) for id_, values in taken.items() for value in values
    ]
    if not measured:
        return Score(name=name, weight=weight, is_judged=False, unit=UNITS[name], note=text("score_no_run"))
    points, value, budget = min(measured)
    return Score(
        name=name,
        weight=weight,
        is_judged=True,
        points=points,
        measured=value,
        budget=budget,
        unit=UNITS[name],
        note=text("score_cooperative"),
    )


def _is_failed(test: TestVerdict) -> bool:
    return test.status.severity > Status.NOT_JUDGED.severity and test.status is not Status.JUDGE_ERROR


def point_of(value: float, budget: float) -> float:
    """Return 1 within the budget, else the budget's share of the figure; what is no finite figure gives 0."""
    if value <= budget:
        return 1.0
    return budget / value if value > 0 and value != float("inf") else 0.0
