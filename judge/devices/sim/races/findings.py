"""The races found so far, each once."""

from __future__ import annotations

from judge.devices.sim.races.report import Race


class Findings:
    """Races by kind and lines."""

    def __init__(self) -> None:
        self.races: list[Race] = []
        """In the order they were found; only ever appended to. What was forgotten as known may come again."""
        self._known: dict[tuple[object, ...], Race] = {}

    def count_again(self, key: tuple[object, ...]) -> bool:
        """Return whether a race is known, and count it once more if so."""
        known = self._known.get(key)
        if known is not None:
            known.count += 1
        return known is not None

    def take(self, race: Race) -> bool:
        """Take a race in, and return whether it is new; one that is known is added to what is known of it."""
        known = self._known.get(race.key)
        if known is not None:
            known.count += race.count if known is not race else 0
            return False
        self._known[race.key] = race
        self.races.append(race)
        return True

    def forget_known(self) -> None:
        """Take races for new that have been found: who watches from now on is to be told of all."""
        self._known.clear()
