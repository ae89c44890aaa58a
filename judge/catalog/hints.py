"""The hints of a problem, from ``hints.toml``."""

from __future__ import annotations

from pathlib import Path

from judge.catalog.document import read_document
from judge.catalog.faults import FolderFault
from judge.catalog.schema import Schema, check
from judge.models.base import Model, Text
from judge.models.problem import Problem


class HintFile(Model):
    """What ``hints.toml`` says."""

    hint: tuple[Text, ...]
    """One ``[[hint]]`` table each, from the gentlest to the plainest."""


SCHEMA = Schema(
    model=HintFile,
    examples={
        "": {"hint": "[[hint]]"},
        "hint": {
            "en": 'en = "What must stay true after every free?"',
            "zh": 'zh = "每次 free 之后，什么必须始终成立？"',
        },
    },
    given={},
)


def read_hints(problem: Problem) -> tuple[Text, ...]:
    """Return a problem's hints, from the gentlest to the plainest.

    Raises:
        BrokenProblem: ``hints.toml`` has become unreadable or wrong since the problem was found.
    """
    hints, faults = examine_hints(problem.folder)
    if faults:
        raise faults[0]
    return hints


def examine_hints(folder: Path) -> tuple[tuple[Text, ...], list[FolderFault]]:
    """Return the hints in a problem's folder, and every fault of ``hints.toml``."""
    try:
        document = read_document(folder / "hints.toml", folder=folder)
    except FolderFault as fault:
        return (), [fault]
    file, faults = check(document, SCHEMA)
    return (file.hint if file else ()), faults
