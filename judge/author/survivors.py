"""``survivors.toml``: why some mutants may live, in the words of the problem's author.

    [[survivor]]
    where = "Pool.malloc"
    before = "while low < high:"
    after = "while low <= high:"
    why.en = "One more turn, in which nothing changes."
    why.zh = "只是多循环一次，什么也不改变。"

``equivalent = false`` says that a test could notice the change, and that none needs to.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from judge.author.findings import Finding, find
from judge.author.mutants import Mutant
from judge.author.pages import has_chinese
from judge.catalog.document import read_document
from judge.models.base import Model, Text
from judge.models.problem import Problem


class Explanation(Model):
    """Why one mutant lives; it is named by what it changes, not by line numbers, which move."""

    where: str
    before: str
    after: str
    why: Text
    equivalent: bool = True

    def fits(self, mutant: Mutant) -> bool:
        """Return whether this mutant is meant."""
        return (self.where, self.before, self.after) == (mutant.where, mutant.before, mutant.after)


class SurvivorFile(Model):
    """What ``survivors.toml`` says."""

    survivor: tuple[Explanation, ...] = ()


def path_of(problem: Problem) -> Path:
    """Return where a problem's explanations stand, if it has any."""
    return problem.reference_folder / "survivors.toml"


def read_explanations(problem: Problem) -> tuple[tuple[Explanation, ...], list[Finding]]:
    """Return a problem's explanations, and what is wrong with the file."""
    path = path_of(problem)
    if not path.exists():
        return (), []
    try:
        file = SurvivorFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as refusal:
        return (), [find("survivors_wrong", path, reason=_describe(refusal))]
    except (ValueError, OSError) as reason:
        return (), [find("survivors_wrong", path, reason=reason)]
    blank = [one for one in file.survivor if not one.why.en.strip() or not has_chinese(one.why.zh)]
    return file.survivor, [complain("survivor_unsaid", one, file.survivor, problem) for one in blank]


def complain(rule: str, explanation: Explanation, among: Sequence[Explanation], problem: Problem) -> Finding:
    """Return a finding about one of the explanations, with its line."""
    path = path_of(problem)
    line = read_document(path, folder=problem.folder).line_of(("survivor", among.index(explanation)))
    return find(rule, path, line=line, before=explanation.before)


def quote(text: str) -> str:
    """Return a text as a basic string of TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _describe(refusal: ValidationError) -> str:
    error = refusal.errors()[0]
    key = ".".join(str(part) for part in error["loc"])
    return f"{key}: {error['msg']}"
