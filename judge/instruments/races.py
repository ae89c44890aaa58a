"""Races as the search found them, in the form that all instruments show."""

from __future__ import annotations

from judge.devices.sim.races.report import Race as FoundRace
from judge.devices.sim.races.report import Touch as FoundTouch
from judge.devices.sim.sites import Site
from judge.instruments.observation import Look, Race, Touch


def as_race(race: FoundRace) -> Race:
    """Return a race for an observation."""
    return Race(
        kind=race.kind,
        first=_as_touch(race.first),
        second=_as_touch(race.second),
        missing=race.missing,
        advice=race.advice,
        looks=tuple(Look(look.what, look.op, look.element, look.saw, look.could) for look in race.looks),
    )


def _as_touch(touch: FoundTouch) -> Touch:
    return Touch(touch.op, Site(touch.file, touch.line, ""), touch.stream, touch.variable)
