"""The repeating part of a program is told by the lines of its launches."""

from __future__ import annotations

import random

import pytest

from judge.devices.sim.sites import UNKNOWN, Site
from judge.instruments.observation import Step
from judge.instruments.steps import find_step


def lines(*numbers: int) -> list[Site]:
    """Return launches of these lines."""
    return [Site("script.py", number, "main") for number in numbers]


def test_a_loop_is_found_between_set_up_and_end() -> None:
    """Launches around the loop belong to no step."""
    step = find_step(lines(1, 2, *[10, 11, 12] * 5, 20))
    assert Step(5, 3, Site("script.py", 10, "main")) == step


def test_the_outermost_loop_counts() -> None:
    """A loop over layers stands inside the step."""
    step = find_step(lines(*[10, *[11, 12] * 4, 13] * 6))
    assert step is not None
    assert (6, 10) == (step.count, step.launches)


def test_a_line_that_launches_several_kernels_has_one_turn() -> None:
    """The turns are evenly spaced, not the launches."""
    step = find_step(lines(*[10, 10, 10, 11] * 4))
    assert step is not None
    assert (4, 4) == (step.count, step.launches)


@pytest.mark.parametrize(
    "sites",
    [[], lines(1), lines(*range(30)), [UNKNOWN] * 30, lines(1, *range(100, 200), 1, 1)],
    ids=["none", "one", "straight", "unknown", "far apart"],
)
def test_where_nothing_repeats_no_step_is_told(sites: list[Site]) -> None:
    """Silence is better than a guess."""
    assert find_step(sites) is None


def test_chance_is_no_loop() -> None:
    """Lines in random order have no even turns."""
    draw = random.Random(0)
    assert find_step(lines(*(draw.randrange(40) for _ in range(400)))) is None
