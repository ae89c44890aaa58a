"""Read one problem folder: its name, its manifest and its files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from judge.catalog.document import Document, read_document
from judge.catalog.faults import FolderFault, make_fault, show, show_value
from judge.catalog.files import check_files, make_unreadable
from judge.catalog.hints import examine_hints
from judge.catalog.schema import Schema, check, explain_value
from judge.models.problem import Problem

FOLDER_NAME = re.compile(r"([1-9][0-9]{0,4})_([a-z][a-z0-9_]*)")

EXAMPLES = {
    "": {
        "number": "",
        "topic": 'topic = "memory"',
        "difficulty": "difficulty = 3",
        "device": 'device = "any"',
        "requires": 'requires = ["torch>=2.11"]',
        "sources": 'sources = ["PyTorch 2.11, c10/cuda/CUDACachingAllocator.cpp"]',
        "title": "[title]",
        "limits": "[limits]",
        "weights": "[weights]",
    },
    "title": {"en": 'en = "A ring of pinned buffers"', "zh": 'zh = "锁页缓冲环"'},
    "limits": {
        "wall_s": "wall_s = 60",
        "test_s": "test_s = 10",
        "output_bytes": "output_bytes = 1_048_576",
        "evidence_bytes": "evidence_bytes = 67_108_864",
    },
    "weights": {
        "correctness": "correctness = 0.8",
        "syncs": "syncs = 0.1",
        "memory": "memory = 0.1",
        "time": "time = 0.2",
    },
}


def make_schema(number: int) -> Schema[Problem]:
    """Return what the manifest of the problem with this number may say."""
    examples = {**EXAMPLES, "": {**EXAMPLES[""], "number": f"number = {number}"}}
    given = {"slug": "given", "folder": "given", "reference_folder": "given"}
    return Schema(model=Problem, examples=examples, given=given)


@dataclass(frozen=True)
class Examination:
    """What reading a problem folder came to: a problem, or faults."""

    folder: Path
    problem: Problem | None
    faults: tuple[FolderFault, ...]

    @property
    def number(self) -> int | None:
        """Number that the folder's name claims, whether or not the problem is broken."""
        name = FOLDER_NAME.fullmatch(self.folder.name)
        return int(name[1]) if name else None


def read_problem(folder: Path, reference_root: Path) -> Problem:
    """Return the problem in a folder.

    Args:
        folder: folder ``N_slug`` with the manifest.
        reference_root: folder that holds the reference folder of the same name.

    Raises:
        BrokenProblem: the folder breaks a rule; :func:`examine` tells every rule.
    """
    examination = examine(folder, reference_root)
    if examination.problem is None:
        raise examination.faults[0]
    return examination.problem


def examine(folder: Path, reference_root: Path) -> Examination:
    """Return the problem in a folder, or all its faults at once: arguments as for :func:`read_problem`."""
    folder = folder.absolute()
    name = FOLDER_NAME.fullmatch(folder.name)
    if name is None:
        return Examination(folder, None, (_explain_name(folder),))
    try:
        next(folder.iterdir(), None)
    except OSError as reason:
        return Examination(folder, None, (make_unreadable(folder, reason, folder=folder),))
    reference_folder = reference_root.absolute() / folder.name
    problem, faults = _read_manifest(folder, int(name[1]))
    faults += examine_hints(folder)[1]
    faults += check_files(folder, reference_folder)
    if problem is None or faults:
        return Examination(folder, None, tuple(faults))
    place = {"slug": name[2], "folder": folder, "reference_folder": reference_folder}
    return Examination(folder, problem.model_copy(update=place), ())


def _read_manifest(folder: Path, number: int) -> tuple[Problem | None, list[FolderFault]]:
    try:
        document = read_document(folder / "problem.toml", folder=folder)
    except FolderFault as fault:
        return None, [fault]
    schema = make_schema(number)
    problem, faults = check(document, schema)
    claimed = document.data.get("number")
    if type(claimed) is int and claimed != number and claimed in range(1, 100_000):
        faults.append(_explain_number(document, claimed, number))
    if problem is not None:
        faults += _check_values(document, schema, problem)
    return problem, faults


def _check_values(document: Document, schema: Schema[Problem], problem: Problem) -> list[FolderFault]:
    """Return the faults that the model's types can't see."""
    faults = [
        explain_value(document, schema, ("title", name))
        for name in ("en", "zh")
        if len(getattr(problem.title, name).splitlines()) > 1
    ]
    faults += [
        explain_value(document, schema, ("requires", at))
        for at, requirement in enumerate(problem.requires)
        if not _is_requirement(requirement)
    ]
    return faults


def _is_requirement(text: str) -> bool:
    # 20 ms that most problems need not pay.
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        Requirement(text)
    except InvalidRequirement:
        return False
    return True


def _explain_number(document: Document, claimed: int, number: int) -> FolderFault:
    return make_fault(
        "number_differs",
        folder=document.folder,
        at=document.path,
        line=document.line_of(("number",)),
        claimed=show_value(claimed),
        number=number,
        name=document.folder.name,
    )


def _explain_name(folder: Path) -> FolderFault:
    """Return the fault of a folder name, with the nearest good name for an example."""
    found = re.match(r"0*([1-9][0-9]{0,4})(?![0-9])(.*)", folder.name)
    number = found[1] if found else "901"
    words = re.sub(r"[^a-z0-9]+", "_", found[2].casefold()).strip("_") if found else ""
    good = f"{number}_{words}"
    if not FOLDER_NAME.fullmatch(good):
        good = f"{number}_my_problem"
    return make_fault("folder_name", folder=folder, at=folder, name=show(folder.name), example=good)
