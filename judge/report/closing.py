"""The last lines of an inspection: what was written, and whether ``--fail-on`` struck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.report.ink import Ink
from judge.report.page import Page
from judge.report.phrases import tell


@dataclass(frozen=True)
class Strike:
    """A condition of ``--fail-on`` that was met."""

    condition: str
    """``syncs``, ``step-syncs`` or ``races``."""
    count: int
    """How many waits or races met it."""
    has_steps: bool
    """Whether steps were told; where none were, ``step-syncs`` counts every wait."""


@dataclass(frozen=True)
class Outcome:
    """What became of the options."""

    conditions: tuple[str, ...] = ()
    """What ``--fail-on`` was given."""
    strikes: tuple[Strike, ...] = ()
    written: tuple[str, ...] = ()
    """Files, as their reader sees them."""


def add_closing(page: Page, outcome: Outcome, *, has_failed: bool) -> None:
    """Write the closing lines; a script that has failed is not told what else there is to have."""
    ink = page.ink
    page.gap()
    if outcome.written:
        page.add(tell(ink, "written", files=tell(ink, "comma").join(map(ink.line, outcome.written))), style="dim")
    if outcome.strikes:
        text = name_strikes(ink, outcome.strikes)
        page.add(text, lead=f"{ink.glyph('failed')} ", lead_style="red", style="bold red")
    elif outcome.conditions:
        text = tell(ink, "not_struck", conditions=",".join(outcome.conditions))
        page.add(text, lead=f"{ink.glyph('passed')} ", lead_style="green")
    elif not outcome.written and not has_failed:
        page.add(tell(ink, "more_to_have"), style="dim")


def name_strikes(ink: Ink, strikes: Sequence[Strike]) -> str:
    """Return in one sentence what ``--fail-on`` struck for."""
    return tell(ink, "struck", found=tell(ink, "comma").join(_name_strike(ink, strike) for strike in strikes))


def _name_strike(ink: Ink, strike: Strike) -> str:
    if strike.condition == "races":
        return tell(ink, "n_races", count=strike.count)
    if strike.condition == "syncs":
        return tell(ink, "n_waits", count=strike.count)
    counted = tell(ink, "n_step_waits" if strike.has_steps else "n_waits", count=strike.count)
    return counted if strike.has_steps else tell(ink, "no_steps_told", waits=counted)
