"""What has to happen in which step, by the statement's rules: who sits where, and what is given out in which order."""

from __future__ import annotations

from dataclasses import dataclass

from support_model import Script


@dataclass(frozen=True)
class Plan:
    """A whole run."""

    admitted: list[tuple[int, int, int]]
    """Step from which on, row, request."""
    emitted: list[tuple[int, int, int]]
    """Step, request, token."""
    steps: int


def make_plan(rows: int, scripts: list[Script]) -> Plan:
    """Return what happens if each row is taken again in the step after the one that was too many."""
    free_from = [0] * rows
    admitted = []
    step = 0
    for request, script in enumerate(scripts):
        step = max(step, min(free_from))
        row = next(row for row in range(rows) if free_from[row] <= step)
        admitted.append((step, row, request))
        free_from[row] = step + len(script.tokens) + 1
    told = [
        (start + at, row, request, token)
        for start, row, request in admitted
        for at, token in enumerate(scripts[request].tokens)
    ]
    emitted = [(step, request, token) for step, _, request, token in sorted(told)]
    return Plan(admitted, emitted, max(free_from))
