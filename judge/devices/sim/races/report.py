"""A race: two accesses, the order that is missing between them, and what to add and where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from judge.devices.sim.races.geometry import Access

Kind = Literal[
    "read-after-write",
    "write-after-read",
    "write-after-write",
    "reused-block",
    "unordered-block",
    "host-read-early",
    "host-write-early",
    "stale-graph-input",
]

What = Literal["input", "output", "memory"]

Words = dict[str, str]
"""A sentence by language, ``en`` and ``zh``."""


@dataclass(frozen=True)
class Touch:
    """One of the two accesses of a race.

    Args:
        op: the operation, as the device's timeline names it.
        file: of the user's line.
        line: number of the user's line, from 1.
        stream: name of the stream, ``host`` for the host.
        variable: the user's own name for the stream, where one was in sight.
    """

    op: str
    file: str
    line: int
    stream: str
    variable: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {"op": self.op, "file": self.file, "line": self.line, "stream": self.stream, "variable": self.variable}


@dataclass(frozen=True)
class Look:
    """Another value that the hardware could have produced.

    Args:
        what: whose value: the second operation's ``input`` or ``output``, the first one's ``input`` where the second
            overwrites it, or what ``memory`` holds in the end where both write.
        op: the operation whose value it is.
        line: its line.
        element: index of the first element that differs, in the order of the tensor's dimensions.
        saw: the value in this run.
        could: the value in another order that the program allows.
    """

    what: What
    op: str
    line: int
    element: int
    saw: str
    could: str
    words: Words

    def as_dict(self, language: str | None = None) -> dict[str, object]:
        """Return plain data for JSON, the sentence in one language or in all."""
        return {
            "what": self.what,
            "op": self.op,
            "line": self.line,
            "element": self.element,
            "saw": self.saw,
            "could": self.could,
            "words": _choose(self.words, language),
        }


@dataclass
class Race:
    """Two accesses to the same bytes, at least one of them a write, that no event, wait or host wait orders.

    Args:
        kind: what the second access does to the first.
        first: the access that was launched first.
        second: the access that was launched later, and showed the race.
        missing: the order that is missing, in words.
        advice: what to add and where, in words.
        access: the bytes of the first access.
        is_first_write: whether the first access wrote them.
        is_second_write: whether the second access writes them.
        first_step: actor and clock of the first operation.
    """

    kind: Kind
    first: Touch
    second: Touch
    missing: Words
    advice: Words
    access: Access
    is_first_write: bool
    is_second_write: bool
    first_step: tuple[int, int]
    count: int = 1
    """How often the same two lines raced."""
    looks: list[Look] = field(default_factory=list)
    """Found by a second look: what else could have come out."""

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it the same race as another: its kind and the two lines."""
        return self.kind, self.first.file, self.first.line, self.second.file, self.second.line

    def as_dict(self, language: str | None = None) -> dict[str, object]:
        """Return plain data for JSON.

        Args:
            language: ``en`` or ``zh`` for sentences in one language; ``None`` for all, by language.
        """
        return {
            "kind": self.kind,
            "first": self.first.as_dict(),
            "second": self.second.as_dict(),
            "missing": _choose(self.missing, language),
            "advice": _choose(self.advice, language),
            "count": self.count,
            "looks": [look.as_dict(language) for look in self.looks],
        }


def _choose(words: Words, language: str | None) -> str | Words:
    return dict(words) if language is None else words[language]
