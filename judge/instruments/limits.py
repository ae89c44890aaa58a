"""What a program's speed depends on, and what to do about it first: said only where the figures bear it."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from judge.devices.sim.sites import Site
from judge.instruments.observation import Observation, Step

Limit = Literal["host", "waits", "device"]

DEVICE_BOUND = 0.2
"""A device that idles less than this share of the time is the limit."""
WAIT_BOUND = 0.1
"""Share of a step that waits have to take to be the limit."""
WORTH_A_GRAPH = 10
"""Launches in a step from which on one replay in their place is worth the trouble."""
LEAST_LAUNCHES = 50
"""Of a program without steps: fewer launches allow no conclusion."""


def find_limit(seen: Observation) -> Limit | None:
    """Return what the speed depends on: the host's work, its waits, or the device; ``None`` where it is not clear.

    On a real GPU the instruments slow the host down, so nothing is concluded from the host's time there.
    """
    step = seen.timeline.step
    if step is None:
        return _find_limit_of_run(seen)
    if step.idle < DEVICE_BOUND:
        return "device"
    if seen.device == "cuda":
        return None
    if step.host_us > step.busy_us:
        return "host"
    return "waits" if step.waited_us > WAIT_BOUND * step.period_us else None


def _find_limit_of_run(seen: Observation) -> Limit | None:
    timeline = seen.timeline
    if timeline.launches < LEAST_LAUNCHES or not seen.spans:
        return None
    if find_idle(seen) < DEVICE_BOUND:
        return "device"
    return "host" if timeline.host_us > timeline.device_busy_us and seen.device == "sim" else None


def find_idle(seen: Observation) -> float:
    """Return the idle share of the device's time between its first work and its last, 0 to 1."""
    worked_us = max(span.ended_us for span in seen.spans) - min(span.started_us for span in seen.spans)
    return max(1 - seen.timeline.device_busy_us / worked_us, 0.0) if worked_us > 0 else 0.0


def is_worth_a_graph(step: Step) -> bool:
    """Return whether a step is launched kernel by kernel, by many launches."""
    return step.launches >= WORTH_A_GRAPH and step.works <= step.launches


def find_heaviest(seen: Observation) -> tuple[str, Site, float] | None:
    """Return the operation and line that take most of the device's time, and their share of it, 0 to 1."""
    step = seen.timeline.step
    times: Counter[tuple[str, Site]] = Counter()
    for span in seen.spans:
        at_us = span.launched_us if span.launched_us is not None else span.started_us
        if step is None or step.is_within(at_us):
            times[span.name, span.site] += span.ended_us - span.started_us  # type: ignore[assignment]  # floats add up too
    if not times or times.total() <= 0:
        return None
    (name, site), most_us = times.most_common(1)[0]
    return name, site, most_us / times.total()
