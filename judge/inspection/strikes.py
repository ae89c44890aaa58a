"""Whether what was found is what ``--fail-on`` names."""

from __future__ import annotations

from collections.abc import Iterable

from judge.models.inspection import Inspection
from judge.report.closing import Strike

CONDITIONS = ("syncs", "step-syncs", "races")
"""What ``--fail-on`` takes."""


def find_strikes(found: Inspection, conditions: Iterable[str]) -> tuple[Strike, ...]:
    """Return the conditions that are met.

    ``step-syncs`` counts the waits that belong to the steps. Where no steps could be told it counts all: a check that
    passes because it saw nothing would be worth nothing.

    Args:
        found: the findings.
        conditions: of :data:`CONDITIONS`.
    """
    step = found.timeline.step
    waits = sum(sync.count for sync in found.syncs)
    counts = {"syncs": waits, "step-syncs": waits, "races": len(found.races)}
    if step is not None:
        counts["step-syncs"] = sum(round((sync.per_step or 0) * step.count) for sync in found.syncs)
    return tuple(Strike(name, counts[name], step is not None) for name in conditions if counts[name])
