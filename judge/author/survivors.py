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
from pathlib import Path

from pydantic import ValidationError

from judge.author.findings import Finding, find
from judge.author.mutants import Mutant
from judge.author.pages import has_chinese
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
    findings = [find("survivor_unsaid", path, line=line_of(path, one), before=one.before) for one in blank]
    return file.survivor, findings


def line_of(path: Path, explanation: Explanation) -> int | None:
    """Return the line of the file on which an explanation names its change."""
    lines = path.read_text(encoding="utf-8").splitlines()
    quoted = {f"before = {quote(explanation.before)}", f"before = '{explanation.before}'"}
    return next((at for at, line in enumerate(lines, 1) if line.strip() in quoted), None)


def quote(text: str) -> str:
    """Return a text as a basic string of TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _describe(refusal: ValidationError) -> str:
    error = refusal.errors()[0]
    key = ".".join(str(part) for part in error["loc"])
    return f"{key}: {error['msg']}"
