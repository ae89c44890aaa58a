"""Find every problem of the repository's pack and of the packs given with ``--problems``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.catalog.faults import FolderFault, make_fault, show_path
from judge.catalog.files import make_unreadable
from judge.catalog.manifest import Examination, examine
from judge.catalog.places import find_packs, problem_folders, repository_root
from judge.errors import BrokenProblem
from judge.models.problem import Problem

__all__ = ["Catalog", "discover", "repository_root"]


@dataclass(frozen=True)
class Catalog:
    """The problems that can be judged, and what keeps others from it."""

    problems: tuple[Problem, ...]
    """By number; no number twice."""
    faults: tuple[BrokenProblem, ...] = ()
    """In the order in which they were found; one problem may have several."""


def discover(extra: Sequence[Path] = ()) -> Catalog:
    """Return the problems of all packs; a broken one becomes faults and leaves the others alone.

    Args:
        extra: pack folders beside the repository's own; a pack named twice counts once.

    Raises:
        UsageError: a folder of ``extra`` holds no ``problems/``.
    """
    examinations: list[Examination] = []
    faults: list[FolderFault] = []
    for pack in find_packs(extra):
        try:
            folders = list(problem_folders(pack))
        except OSError as reason:
            faults.append(make_unreadable(pack.problems, reason, folder=pack.problems))
            continue
        examinations += [examine(folder, pack.reference) for folder in folders]
    kept = _keep_numbers(examinations)
    for examination in examinations:
        faults += examination.faults
        keeper = kept.get(examination.number or 0, examination)
        if keeper is not examination:
            faults.append(_explain_duplicate(examination, keeper))
    problems = [examination.problem for examination in kept.values() if examination.problem is not None]
    return Catalog(tuple(sorted(problems, key=lambda problem: problem.number)), tuple(faults))


def _keep_numbers(examinations: Iterable[Examination]) -> dict[int, Examination]:
    """Return who keeps each number: the first found, or the first sound one where earlier ones are broken."""
    kept: dict[int, Examination] = {}
    for examination in examinations:
        number = examination.number
        if number is None:
            continue
        holder = kept.setdefault(number, examination)
        if holder.problem is None and examination.problem is not None:
            kept[number] = examination
    return kept


def _explain_duplicate(examination: Examination, keeper: Examination) -> FolderFault:
    return make_fault(
        "duplicate_number",
        folder=examination.folder,
        at=examination.folder / "problem.toml",
        number=examination.number,
        kept=show_path(keeper.folder),
        other=show_path(examination.folder),
    )
