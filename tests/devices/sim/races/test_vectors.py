"""Vector clocks: short ones, long ones, and what merging does."""

from __future__ import annotations

import pytest

from judge.devices.sim.races.vectors import clock_of, merge, tick


@pytest.mark.parametrize(
    ("mine", "other", "expected"),
    [
        pytest.param([1, 5], [3, 2], [3, 5], id="the_later_of_each"),
        pytest.param([1], [0, 0, 4], [1, 0, 4], id="a_longer_one"),
        pytest.param([1, 2, 3], [2], [2, 2, 3], id="a_shorter_one"),
        pytest.param([], [], [], id="nothing"),
    ],
)
def test_merging_keeps_the_later_clock(mine: list[int], other: list[int], expected: list[int]) -> None:
    """The owner knows what either knew; the vector stays the same list."""
    merged = mine
    merge(merged, other)
    assert expected == merged
    assert merged is mine


def test_an_actor_never_seen_is_at_clock_zero() -> None:
    """Vectors grow only when needed."""
    assert [0, 7, 0] == [clock_of([0, 7], actor) for actor in range(3)]


def test_a_step_counts_the_actors_own_entry() -> None:
    """The vector grows up to the actor."""
    vector = [2]
    assert [1, 2] == [tick(vector, 2), tick(vector, 2)]
    assert [2, 0, 2] == vector
