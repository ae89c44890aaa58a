"""Find the repeating part of a program in the lines that launched its work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from judge.devices.sim.sites import Site
from judge.instruments.observation import Step

LEAST_REPETITIONS = 3
LEAST_COVERAGE = 0.5
"""Share of all launches that the repetitions must make up."""
LEAST_REGULARITY = 0.6
"""Share of the repetitions that must have the median's number of launches, give or take a tenth."""


def find_step(sites: Sequence[Site]) -> Step | None:
    """Return the outermost loop that most launches belong to, or ``None`` where no line tells one.

    A line is taken for a step's when its turns are evenly spaced in the sequence of launches. Of several such
    lines the rarest is the outermost: a line in a loop over layers comes round more often than one around it.

    Args:
        sites: the line of each launch, in order.
    """
    turns: dict[Site, list[int]] = {}
    previous = None
    for at, site in enumerate(sites):
        # A line that launches several kernels in a row has one turn.
        if site != previous:
            turns.setdefault(site, []).append(at)
        previous = site
    # The rarest first: it stands outside the others.
    for site, starts in sorted(turns.items(), key=lambda item: len(item[1])):
        step = _as_step(site, starts, sites)
        if step is not None:
            return step
    return None


def _as_step(site: Site, turns: Sequence[int], sites: Sequence[Site]) -> Step | None:
    gaps = sorted(after - before for before, after in pairwise(turns))
    if len(turns) < LEAST_REPETITIONS or site.line == 0:
        return None
    launches = gaps[len(gaps) // 2]
    if launches * len(turns) < LEAST_COVERAGE * len(sites):
        return None
    even = sum(abs(gap - launches) <= launches // 10 for gap in gaps)
    if even < LEAST_REGULARITY * len(gaps):
        return None
    # The same lines have to come round each time.
    passes = Counter(frozenset(sites[before:after]) for before, after in pairwise(turns))
    if max(passes.values()) < LEAST_REGULARITY * len(gaps):
        return None
    return Step(len(turns), launches, site)
