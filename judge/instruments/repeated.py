"""Tell the waits of every step from those of the set-up."""

from __future__ import annotations

from collections.abc import Sequence

from judge.instruments.observation import Step, Sync, WaitKey

LEAST_STEPS = 2
"""In how many steps a wait has to take place to be one of the steps'."""


def find_repeated(syncs: Sequence[Sync], step: Step | None) -> frozenset[WaitKey]:
    """Return the waits that belong to the steps; none where no step is told.

    What happened before, between or after the steps, or in a single one only, is set-up, evaluation, or tidying up.
    """
    if step is None:
        return frozenset()
    met: dict[WaitKey, set[int]] = {}
    for sync in syncs:
        number = step.find(sync.started_us)
        if number is not None:
            met.setdefault(sync.key, set()).add(number)
    return frozenset(key for key, steps in met.items() if len(steps) >= LEAST_STEPS)
