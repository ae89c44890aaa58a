"""Find the problem that a person means."""

from __future__ import annotations

import difflib
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from judge.catalog.faults import FolderFault, show
from judge.catalog.packs import Catalog
from judge.errors import BrokenProblem, ProblemNotFound
from judge.locale import choose_language, say
from judge.models.problem import Problem

MAX_SUGGESTIONS = 3
MAX_NUMBER_DISTANCE = 10


def find(catalog: Catalog, key: str, call: str = "judge") -> Problem:
    """Return the problem with this number, slug or folder name.

    Case, surrounding spaces, dashes for underscores and full-width digits make no difference. ``call`` is what
    the user types to call the judge, for the remedy.

    Raises:
        ProblemNotFound: there is none, or the slug belongs to several; the remedy names near ones.
        BrokenProblem: there is one, and it is broken.
    """
    wanted = _normalise(key)
    found = [problem for problem in catalog.problems if wanted in _names(problem.folder)]
    if len(found) == 1:
        return found[0]
    language = choose_language(sys.argv[1:])
    if found:
        names = ", ".join(problem.name for problem in found)
        raise ProblemNotFound(
            say("catalog.ambiguous", language, name=show(key), names=names),
            remedy=say("catalog.ambiguous_remedy", language, number=found[0].number),
        )
    faults = [fault for fault in catalog.faults if isinstance(fault, FolderFault) and wanted in _names(fault.folder)]
    if faults:
        raise _say_broken(faults, language, call)
    near = _near(catalog.problems, wanted)
    if near:
        remedy = say("catalog.not_found_remedy_near", language, near=_list(near, language), call=call)
    else:
        remedy = say("catalog.not_found_remedy", language, call=call)
    if not catalog.problems:
        remedy = say("catalog.no_problems_remedy", language)
    raise ProblemNotFound(say("catalog.not_found", language, name=show(key)), remedy=remedy)


def _normalise(key: str) -> str:
    wanted = unicodedata.normalize("NFKC", key).strip().casefold().replace("-", "_")
    return wanted.lstrip("0") if wanted.isdecimal() else wanted


def _names(folder: Path) -> tuple[str, ...]:
    """Return what a folder can be called by: its whole name, its number and its slug."""
    whole = _normalise(folder.name)
    number, _, slug = whole.partition("_")
    return tuple(name for name in (whole, _normalise(number), slug) if name)


def _say_broken(faults: list[FolderFault], language: str, call: str) -> BrokenProblem:
    first = faults[0]
    name = show(first.folder.name)
    more = say("catalog.broken_more", language, count=len(faults) - 1, call=call) if len(faults) > 1 else ""
    what = say("catalog.broken", language, name=name, fault=first.what) + more
    return FolderFault(what, folder=first.folder, place=first.place or name, remedy=first.remedy or "")


def _near(problems: Iterable[Problem], wanted: str) -> list[Problem]:
    """Return the problems most like ``wanted``: by spelling, by a part of the name, by number."""
    by_name = {name: problem for problem in problems for name in _names(problem.folder)}
    near = [by_name[name] for name in difflib.get_close_matches(wanted, by_name, MAX_SUGGESTIONS)]
    near += [problem for name, problem in by_name.items() if len(wanted) > 2 and wanted in name]
    start = wanted.partition("_")[0]
    if start.isdecimal() and len(start) <= 6:
        by_distance = sorted(by_name.values(), key=lambda problem: abs(problem.number - int(start)))
        near += [problem for problem in by_distance if abs(problem.number - int(start)) <= MAX_NUMBER_DISTANCE]
    return list({problem.number: problem for problem in near}.values())[:MAX_SUGGESTIONS]


def _list(problems: list[Problem], language: str) -> str:
    each = (
        say("catalog.near_problem", language, name=problem.name, title=show(problem.title.in_language(language)))
        for problem in problems
    )
    return say("catalog.near_separator", language).join(each)
