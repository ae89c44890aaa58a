"""Races in words: which order is missing, and the line of code that gives it."""

from __future__ import annotations

from collections.abc import Callable

from judge.devices.sim.races.cells import Record
from judge.devices.sim.races.conflicts import Conflict
from judge.devices.sim.races.report import Kind, Race, Touch, Words
from judge.devices.sim.races.vectors import HOST
from judge.devices.sim.sites import Site
from judge.locale import pair, say

LANGUAGES = ("en", "zh")

_WAIT = ("races.wait_missing", "races.wait_advice")

MESSAGES: dict[Kind, tuple[str, str]] = {
    "read-after-write": _WAIT,
    "write-after-read": _WAIT,
    "write-after-write": _WAIT,
    "unordered-block": ("races.unordered_missing", "races.wait_advice"),
    "reused-block": ("races.reused_missing", "races.reused_advice"),
    "host-read-early": ("races.host_read_missing", "races.host_advice"),
    "host-write-early": ("races.host_write_missing", "races.host_advice"),
    "stale-graph-input": ("races.stale_missing", "races.stale_advice"),
}
"""What is missing and what to do, by kind."""


class Reporter:
    """Puts races into words.

    Args:
        name_of: gives the name of an actor, for people.
        code_of: gives an expression for an actor's stream in the user's code, if it finds one.
        former_of: gives the line that allocated the last block that was freed at an address, if it is known.
    """

    def __init__(
        self,
        name_of: Callable[[int], str],
        code_of: Callable[[int], str | None],
        former_of: Callable[[int], Site | None] = lambda _: None,
    ) -> None:
        self.name_of = name_of
        self.code_of = code_of
        self.former_of = former_of

    def report(
        self, kind: Kind, conflict: Conflict, actor: int, record: Record, node: tuple[str, Site] | None = None
    ) -> Race:
        """Return the race of an operation with an earlier access.

        Args:
            kind: of race.
            conflict: the earlier access.
            actor: who runs the operation.
            record: of the operation.
            node: name and line of the captured operation that the race is about, if it is about one.
        """
        one, two = self._touch(conflict.actor, conflict.record), self._touch(actor, record)
        values = {
            "first": self._write(one, conflict.actor),
            "second": self._write(two, actor),
            "first_op": one.op,
            "second_op": two.op,
            "node": node[0] if node else "",
        }
        here, there = _place(one, two), _place(two, one)
        captured = _place(_as_touch(node[1]), two) if node else here
        tensor = self._name_tensor(conflict, one)
        missing, advice = (
            {
                language: say(
                    message,
                    language,
                    here=here[language],
                    there=there[language],
                    captured=captured[language],
                    tensor=tensor[language],
                    **values,
                )
                for language in LANGUAGES
            }
            for message in MESSAGES[kind]
        )
        step = conflict.actor, conflict.record[0]
        return Race(kind, one, two, missing, advice, conflict.access, conflict.was_write, conflict.is_write, step)

    def _touch(self, actor: int, record: Record) -> Touch:
        _, op, site = record
        return Touch(op, site.file, site.line, self.name_of(actor), None if actor == HOST else self.code_of(actor))

    def _write(self, touch: Touch, actor: int) -> str:
        """Return a stream as it can be written in code: the user's own variable if there is one."""
        if actor == HOST:
            return "host"
        if touch.variable is not None:
            return touch.variable
        return "torch.cuda.default_stream()" if touch.stream == "default" else touch.stream.replace(" ", "_")

    def _name_tensor(self, conflict: Conflict, touch: Touch) -> Words:
        """Return the tensor whose bytes were used first, by the line that allocated it where that is known."""
        made = self.former_of(conflict.access.low) if conflict.is_former else None
        if made is None or not made.line:
            return pair("races.some_tensor")
        return {
            language: say("races.tensor_of", language, made=place)
            for language, place in _place(_as_touch(made), touch).items()
        }


def _as_touch(site: Site) -> Touch:
    return Touch("", site.file, site.line, "")


def _place(touch: Touch, other: Touch) -> Words:
    """Return a line in words, with its file if the other line stands in another one."""
    if touch.file == other.file:
        return pair("races.line", line=touch.line)
    return pair("races.line_of", line=touch.line, file=touch.file.rpartition("/")[2])
