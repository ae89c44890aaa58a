"""Mutants: the reference with one small mistake each, as a tired learner would make it."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from judge.author.operators import Change, list_changes
from judge.author.regions import find_quiet_regions
from judge.author.shape import shape_of

OUTSIDE = "module"
"""Where a line stands that belongs to no function or class."""


@dataclass(frozen=True)
class Mutant:
    """One changed reference."""

    operator: str
    where: str
    """Function or class that holds the change, for example ``Pool.malloc``."""
    line: int
    before: str
    after: str
    diff: str
    source: bytes


def make_mutants(reference: str, stub: str) -> list[Mutant]:
    """Return the mutants of a reference by line, without those that no test could tell from another.

    Args:
        reference: text of the reference.
        stub: text of the stub: what it gives is not changed.

    Raises:
        MissingTool: cosmic-ray is not installed.
    """
    regions = find_quiet_regions(reference, stub)
    owners = list(_list_owners(ast.parse(reference).body, ""))
    seen = {shape_of(reference)}
    mutants = []
    for change in list_changes(reference):
        if any(region.holds(change.start) for region in regions):
            continue
        changed = change.apply(reference)
        shape = _shape_if_valid(changed) if changed is not None else None
        if changed is not None and shape is not None and shape not in seen:
            seen.add(shape)
            mutants.append(_describe(change, reference, changed, owners))
    return sorted(mutants, key=lambda mutant: mutant.line)


def _shape_if_valid(source: str) -> str | None:
    try:
        with warnings.catch_warnings():
            # A mutant may well say `x is 3`; that is its affair.
            warnings.simplefilter("ignore")
            compile(source, "solution.py", "exec", dont_inherit=True)
            return shape_of(source)
    except (SyntaxError, ValueError):
        return None


def _describe(change: Change, reference: str, changed: str, owners: list[tuple[str, range]]) -> Mutant:
    old, new = reference.splitlines(), changed.splitlines()
    before: list[str] = []
    after: list[str] = []
    for tag, old_start, old_stop, new_start, new_stop in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            before += old[old_start:old_stop]
            after += new[new_start:new_stop]
    line = change.start[0]
    diff = difflib.unified_diff(old, new, "solution.py", "solution.py", lineterm="")
    return Mutant(
        operator=change.operator,
        where=next((name for name, lines in owners if line in lines), OUTSIDE),
        line=line,
        before=_on_one_line(before),
        after=_on_one_line(after),
        diff="\n".join(diff),
        source=changed.encode(),
    )


def _on_one_line(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _list_owners(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, range]]:
    """Yield the lines of each function and class by its qualified name, inner ones first."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = prefix + node.name
            yield from _list_owners(node.body, f"{name}.")
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            yield name, range(first, (node.end_lineno or node.lineno) + 1)
