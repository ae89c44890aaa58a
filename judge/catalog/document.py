"""A TOML file with the lines of its keys."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.catalog.faults import FolderFault, make_fault, show
from judge.catalog.files import read_text

Key = Sequence[str | int]
"""Names of tables and keys, and positions in arrays, from the outside in."""


@dataclass(frozen=True)
class Document:
    """A parsed TOML file of a problem."""

    folder: Path
    """The problem's folder."""
    path: Path
    lines: tuple[str, ...]
    data: dict[str, Any]

    def line_of(self, key: Key) -> int | None:
        """Return the line, from 1, on which the statement that gives ``key`` starts; ``None``: it isn't there.

        The parser itself answers, so that dotted keys, inline tables and multi-line strings need no
        second reading of the grammar: the statement is the one without which the key isn't there.
        """
        if not _has(self.data, key):
            return None
        without, having = 0, len(self.lines)
        while having - without > 1:
            middle = (without + having) // 2
            if _has(self._parse_start(middle)[1], key):
                having = middle
            else:
                without = middle
        return self._parse_start(having - 1)[0] + 1

    def _parse_start(self, count: int) -> tuple[int, dict[str, Any]]:
        """Return how many of the first ``count`` lines are whole statements, and what they say."""
        for whole in range(count, 0, -1):
            try:
                return whole, tomllib.loads("\n".join(self.lines[:whole]))
            except tomllib.TOMLDecodeError:
                continue
        return 0, {}


def read_document(path: Path, *, folder: Path) -> Document:
    """Read and parse a TOML file.

    Raises:
        FolderFault: it can't be read, or is not TOML.
    """
    text = read_text(path, folder=folder).replace("\r\n", "\n")
    lines = tuple(text.split("\n"))
    try:
        return Document(folder=folder, path=path, lines=lines, data=tomllib.loads(text))
    # ValueError: also an integer of thousands of digits. RecursionError: arrays nested too deep.
    except (ValueError, RecursionError) as reason:
        raise _explain(reason, path, lines, folder) from None


def _explain(reason: Exception, path: Path, lines: tuple[str, ...], folder: Path) -> FolderFault:
    message = str(reason)
    found = re.search(r" ?\(at (?:line (\d+), column \d+|end of document)\)$", message)
    line = None
    if found:
        last = max((number for number, content in enumerate(lines, 1) if content.strip()), default=1)
        line = int(found[1]) if found[1] else last
        message = message[: found.start()]
    remedy = None if found else "toml_extreme_remedy"
    if re.search("overwrite|twice|[Dd]uplicate", message):
        remedy = "toml_twice_remedy"
    return make_fault(
        "toml_syntax",
        folder=folder,
        at=path,
        line=line,
        remedy=remedy,
        file=path.name,
        reason=show(message),
        source=show(lines[line - 1].strip()) if line else "",
    )


def _has(data: dict[str, Any], key: Key) -> bool:
    value: Any = data
    for part in key:
        if isinstance(value, dict):
            is_there = part in value
        else:
            is_there = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if not is_there:
            return False
        value = value[part]
    return True
