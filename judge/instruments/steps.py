"""Find the repeating part of a program in the lines that launched its work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from statistics import median, median_low
from typing import NamedTuple

from judge.devices.sim.sites import Site
from judge.instruments.conditions import find_conditional
from judge.instruments.intervals import merge, total
from judge.instruments.launches import Launch
from judge.instruments.observation import Step, Sync
from judge.instruments.repeated import find_repeated

LEAST_REPETITIONS = 3
LEAST_COVERAGE = 0.4
"""Share of all launches that the repetitions must make up."""
LEAST_REGULARITY = 0.6
"""Share of the repetitions that must be as long as the median, give or take a tenth; and in how many of them a line
must occur to belong to what repeats."""
LONGEST = 1.5
"""A piece that is so many times longer than the median has something else behind the step in it."""
MOST_EPOCHS = 5
STEPS_IN_EPOCH = 16
"""So few repetitions of so many shorter ones are no steps: they are epochs, or runs of a benchmark."""


class _Period(NamedTuple):
    """A line that cuts the launches into pieces of about the same length."""

    site: Site
    turns: list[int]
    """Number of the first launch of each piece."""
    launches: int
    """In a piece: the median."""


def find_step(launches: Sequence[Launch], syncs: Sequence[Sync]) -> Step | None:
    """Return the outermost loop that most launches belong to, or ``None`` where no line tells one.

    A line is taken for a step's when its turns cut the launches into pieces of about the same length. Of several such
    lines the rarest is the outermost: a line in a loop over layers comes round more often than one around it. Lines
    at which the host waits, and lines under a condition, come second: a loss that is printed every tenth step comes
    round evenly too, and is not the step.

    Args:
        launches: by the host, in order.
        syncs: host waits; they also tell two turns of a line apart between which nothing else is launched.
    """
    turns = _find_turns(launches, syncs)
    waiting = {sync.site for sync in syncs}
    numbers = {site: number for number, site in enumerate({launch.site for launch in launches})}
    lines = [numbers[launch.site] for launch in launches]  # compared again and again: a number is faster than a site
    steady = {site for site in turns if site not in waiting and site.line not in find_conditional(site.file)}
    for chosen in (steady, turns.keys() - steady):
        period = _choose({site: turns[site] for site in chosen}, lines)
        if period is not None:
            return _measure(_anchor(period, turns, lines), launches, syncs)
    return None


def _find_turns(launches: Sequence[Launch], syncs: Sequence[Sync]) -> dict[Site, list[int]]:
    """Return the numbers of the launches with which each line begins anew."""
    events = [(launch.at_us, at, launch.site) for at, launch in enumerate(launches)]
    # A wait comes after the launches of the same moment.
    events += [(sync.started_us, len(launches), sync.site) for sync in syncs]
    turns: dict[Site, list[int]] = {}
    previous = None
    for _, at, site in sorted(events, key=lambda event: event[:2]):
        is_launch = at < len(launches)
        # A line that launches several kernels in a row has one turn; a replay is a whole one.
        if is_launch and site.line and (site != previous or launches[at].is_replay):
            turns.setdefault(site, []).append(at)
        previous = site
    return turns


def _find_period(site: Site, turns: list[int], lines: Sequence[int]) -> _Period | None:
    """Return the pieces that a line cuts the launches into, ``None`` where they are no repetitions."""
    if len(turns) < LEAST_REPETITIONS:
        return None
    count = len(turns) - 1
    if median_low([after - start for start, after in pairwise(turns)]) * len(turns) < LEAST_COVERAGE * len(lines):
        return None
    met = Counter(line for before, after in pairwise(turns) for line in set(lines[before:after]))
    core = {line for line, pieces in met.items() if pieces >= LEAST_REGULARITY * count}
    before = [0, *accumulate(line in core for line in lines)]
    lengths = [before[after] - before[start] for start, after in pairwise(turns)]
    length = median_low(lengths)
    even = sum(abs(one - length) <= length // 10 for one in lengths)
    if even < LEAST_REGULARITY * count or length * len(turns) < LEAST_COVERAGE * len(lines):
        return None
    return _Period(site, turns, median_low([after - start for start, after in pairwise(turns)]))


def _choose(turns: dict[Site, list[int]], lines: Sequence[int]) -> _Period | None:
    """Return the outermost period, of equal ones the one that begins first; epochs give way to the steps in them."""
    outermost: _Period | None = None
    # The rarest first: it stands outside the others.
    for site, starts in sorted(turns.items(), key=lambda item: (len(item[1]), item[1][0])):
        if outermost is not None and len(starts) < STEPS_IN_EPOCH * len(outermost.turns):
            continue
        period = _find_period(site, starts, lines)
        if period is not None and (outermost is not None or len(starts) > MOST_EPOCHS):
            return period
        outermost = outermost or period
    return outermost


def _anchor(period: _Period, turns: dict[Site, list[int]], lines: Sequence[int]) -> _Period:
    """Return the same period, cut at the first of the lines that come round as often: the top of the loop.

    It may be one that waits: a batch that is copied to the device.
    """
    first = period.turns[0]
    for site, starts in sorted(turns.items(), key=lambda item: item[1][0]):
        if len(starts) == len(period.turns) and first - period.launches < starts[0] < first:
            return _find_period(site, starts, lines) or period
    return period


def _measure(period: _Period, launches: Sequence[Launch], syncs: Sequence[Sync]) -> Step:
    """Return the figures of the median step; the last one, whose end nothing tells, counts for none of the medians."""
    turns = period.turns
    pieces = [launches[start:after] for start, after in pairwise(turns)]
    starts_us = [launches[at].at_us for at in turns]
    busy_us = [total(merge((s.started_us, s.ended_us) for one in piece for s in one.spans)) for piece in pieces]
    began_us = [min(span.started_us for one in piece for span in one.spans) for piece in pieces]
    began_us.append(min(span.started_us for span in launches[turns[-1]].spans))
    step = Step(
        count=len(turns),
        launches=period.launches,
        kernels=median_low([sum(one.kernels for one in piece) for piece in pieces]),
        works=median_low([sum(len(one.spans) for one in piece) for piece in pieces]),
        site=period.site,
        starts_us=tuple(starts_us),
        ends_us=tuple(
            _find_end(at, after, period.launches, launches) for at, after in zip(turns, [*turns[1:], None], strict=True)
        ),
        period_us=median(after - start for start, after in pairwise(starts_us)),
        waited_us=0.0,
        busy_us=median(busy_us),
        turnaround_us=median(after - start for start, after in pairwise(began_us)),
    )
    repeated = find_repeated(syncs, step)
    waited_us = sum(sync.waited_us for sync in syncs if sync.key in repeated and step.is_within(sync.started_us))
    return replace(step, waited_us=waited_us / step.count)


def _find_end(start: int, after: int | None, length: int, launches: Sequence[Launch]) -> float:
    """Return when the step that begins with a launch is over.

    That is when the next one begins; but where much more than a step comes in between, as an evaluation does, and at
    the end, it is after as many launches as a step has.
    """
    if after is None or after - start > LONGEST * length:
        after = start + length
    return launches[after].at_us if after < len(launches) else float("inf")
