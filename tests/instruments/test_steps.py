"""The repeating part of a program is told by the lines of its launches."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from judge.devices.sim.sites import UNKNOWN, Site
from judge.instruments.launches import Launch
from judge.instruments.observation import Step, Sync
from judge.instruments.repeated import find_repeated
from judge.instruments.steps import find_step
from tests.instruments.programs import launch, place, replay, wait, wait_at

LOOP = (10, 11, 12)


def told(launches: list[Launch], syncs: list[Sync] | None = None) -> tuple[int, int, int] | None:
    """Return how many steps are told, their launches, and the line that tells them."""
    step = find_step(launches, syncs or [])
    return None if step is None else (step.count, step.launches, step.site.line)


def test_a_loop_is_found_between_set_up_and_end() -> None:
    """Launches around the loop belong to no step."""
    assert (5, 3, 10) == told(launch(1, 2, *LOOP * 5, 20))


def test_the_outermost_loop_counts() -> None:
    """A loop over layers stands inside the step."""
    assert (6, 10, 10) == told(launch(*[10, *[11, 12] * 4, 13] * 6))


@pytest.mark.parametrize("every", [3, 5, 10, 20])
def test_a_line_that_prints_every_few_steps_is_no_step(every: int) -> None:
    """The host waits there; the loop around it tells the steps."""
    lines = [line for step in range(60) for line in (*LOOP, *([19, 19] if step % every == 0 else []))]
    launches = launch(*lines)
    assert (60, 3, 10) == told(launches, wait_at(launches, 19)[::2])


def test_where_every_line_waits_the_steps_are_told_all_the_same() -> None:
    """A loop that reads back all it computes has steps too."""
    launches = launch(*[10, 11] * 8)
    assert (8, 2, 10) == told(launches, wait_at(launches, 10) + wait_at(launches, 11))


def test_a_line_under_a_condition_is_no_step(tmp_path: Path) -> None:
    """What a source says counts: an average every fifth step waits for nothing, and is no step either."""
    file = tmp_path / "script.py"
    file.write_text("for step in range(60):\n    x += 1\n    x *= 2\n    if step % 5 == 0:\n        y = x / 5\n")
    lines = [line for step in range(60) for line in (2, 3, *([5] if step % 5 == 0 else []))]
    launches = [one._replace(site=Site(str(file), one.site.line, "")) for one in launch(*lines)]
    assert (60, 2, 2) == told(launches)


def test_a_warm_up_on_the_same_lines_takes_no_part_in_the_figures_of_a_step() -> None:
    """The loop's own line comes round in the loop only."""
    launches = launch(1, *[30, 31] * 3, *[10, 30, 31] * 20)
    assert (20, 3, 10) == told(launches)


def test_of_two_phases_the_one_with_most_of_the_launches_has_the_steps() -> None:
    """A short first phase is set-up."""
    assert (50, 3, 10) == told(launch(*[5, 6] * 20, *LOOP * 50))


def test_epochs_are_no_steps() -> None:
    """Three long repetitions of many short ones: the short ones are the steps."""
    assert (180, 3, 10) == told(launch(*[5, *LOOP * 60] * 3))


def test_a_line_that_launches_several_kernels_has_one_turn() -> None:
    """The turns are evenly spaced, not the launches."""
    assert (4, 4, 10) == told(launch(*[10, 10, 10, 11] * 4))


def test_a_wait_tells_two_turns_of_one_line_apart() -> None:
    """A loop of a single call and a synchronisation launches from one line only."""
    launches = launch(*[10] * 24)
    assert (6, 4, 10) == told(launches, [wait(11, launches[at].at_us) for at in range(3, 24, 4)])


def test_each_replay_is_a_turn_and_one_launch() -> None:
    """Its nodes are kernels, not launches."""
    launches = [replay(10, 100.0 * at, nodes=30) for at in range(8)]
    step = find_step(launches, [])
    assert step is not None
    assert (8, 1, 30, 30) == (step.count, step.launches, step.kernels, step.works)


def test_the_figures_of_a_step_are_those_of_its_launches() -> None:
    """Three launches of ten microseconds each, kernels of four, and a wait of one."""
    launches = launch(*LOOP * 5)
    step = find_step(launches, wait_at(launches, 12))
    assert step is not None
    assert (30.0, 1.0, 29.0, 12.0) == (step.period_us, step.waited_us, step.host_us, step.busy_us)
    assert 0.6 == pytest.approx(step.idle)


@pytest.mark.parametrize(
    "lines",
    [(), (1,), tuple(range(1, 30)), (1, *range(100, 200), 1, 1)],
    ids=["none", "one", "straight", "far apart"],
)
def test_where_nothing_repeats_no_step_is_told(lines: tuple[int, ...]) -> None:
    """Silence is better than a guess."""
    assert told(launch(*lines)) is None


def test_launches_without_a_line_tell_no_step() -> None:
    """Nothing could be named."""
    assert told([one._replace(site=UNKNOWN) for one in launch(*[0] * 30)]) is None


def test_chance_is_no_loop() -> None:
    """Lines in random order have no even turns."""
    draw = random.Random(0)
    assert told(launch(*(draw.randrange(1, 40) for _ in range(400)))) is None


def test_waits_of_the_steps_are_told_from_those_around_them() -> None:
    """A wait in two steps is one of the steps'; one before, one after and one in a single step are not."""
    launches = launch(1, 2, *LOOP * 6, 20)
    step = find_step(launches, [])
    inside = [wait(12, launches[at].at_us) for at in (4, 13)]
    around = [wait(1, launches[0].at_us), wait(20, launches[-1].at_us), wait(13, launches[7].at_us)]
    assert {(place(12), "item", "Tensor.item")} == find_repeated([*inside, *around], step)


def test_a_step_begins_at_the_top_of_its_loop_even_if_that_waits() -> None:
    """A batch is copied to the device there; every step has its copy, the first one too."""
    launches = launch(1, *[9, *LOOP] * 6)
    step = find_step(launches, syncs := wait_at(launches, 9))
    assert step is not None
    assert (6, 4, 9, 1.0) == (step.count, step.launches, step.site.line, step.waited_us)
    assert [0, 1, 2, 3, 4, 5] == [step.find(sync.started_us) for sync in syncs]


def test_an_evaluation_between_steps_is_part_of_none() -> None:
    """It comes round as well, and its waits are not paid by the steps."""
    launches = launch(*[*LOOP * 10, *[40, 41] * 6] * 4)
    step = find_step(launches, syncs := wait_at(launches, 41))
    assert step is not None
    assert (40, 3, 10, 0.0) == (step.count, step.launches, step.site.line, step.waited_us)
    assert frozenset() == find_repeated(syncs, step)


def test_a_device_that_lags_behind_sets_the_pace() -> None:
    """The host launches ahead, and the work of a step takes longer than its launches."""
    launches = [replay(10, 2.0 * at, nodes=1) for at in range(8)]
    slow = [replace(one.spans[0], started_us=30.0 * at, ended_us=30.0 * at + 29) for at, one in enumerate(launches)]
    step = find_step([one._replace(spans=(span, span)) for one, span in zip(launches, slow, strict=True)], [])
    assert step is not None
    assert (2.0, 30.0, 29.0) == (step.period_us, step.turnaround_us, step.busy_us)


def test_without_steps_no_wait_is_one_of_theirs() -> None:
    """There is nothing to tell them by."""
    step: Step | None = None
    assert frozenset() == find_repeated([wait(1, 0.0)] * 3, step)
