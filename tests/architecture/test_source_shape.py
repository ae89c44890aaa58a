"""What the source must look like: no file too long, no problem known by name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.architecture.source import Module

MAX_LINES = 300
SOURCE_FOLDERS = ("judge", "tests", "benchmarks", "practice", "problems", "reference")
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def test_no_file_is_longer_than_300_lines(root: Path) -> None:
    """A longer file wants a second noun; a learner's own file is the learner's affair."""
    lengths = {
        path.relative_to(root).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for folder in SOURCE_FOLDERS
        for path in (root / folder).rglob("*.py")
        if folder != "practice" or path.name == "judge.py"
    }
    too_long = {path: lines for path, lines in lengths.items() if lines > MAX_LINES}
    assert {} == too_long


def test_no_module_has_a_vague_name(modules: tuple[Module, ...]) -> None:
    """A module is named by its noun."""
    vague = [module.name for module in modules if VAGUE_NAMES & set(module.name.split("."))]
    assert [] == vague


def test_every_public_package_says_what_it_holds(modules: tuple[Module, ...]) -> None:
    """Each module begins with a docstring."""
    silent = [module.name for module in modules if not ast.get_docstring(module.tree)]
    assert [] == silent


def test_the_judge_knows_no_problem_by_name(root: Path, modules: tuple[Module, ...]) -> None:
    """No number or slug of a problem stands in the judge's code; docstrings may give one as an example."""
    names = [folder.name.partition("_") for folder in sorted((root / "problems").iterdir()) if folder.is_dir()]
    slugs = {slug for _, _, slug in names}
    numbers = {number for number, _, _ in names}
    known = [
        f"{module.name}:{node.lineno}: {ast.unparse(node)}"
        for module in modules
        for node in _code_nodes(module.tree)
        # the simulated device is full of numbers that are CUDA's, its error codes for example
        if _mentions(node, slugs, set() if module.name.startswith("judge.devices.sim.") else numbers)
    ]
    assert [] == known


def _code_nodes(tree: ast.Module) -> list[ast.expr]:
    """Return all expressions but docstrings, those under attributes included."""
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.Name | ast.Attribute) and id(node) not in bare
    ]


def _mentions(node: ast.expr, slugs: set[str], numbers: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in slugs
    if isinstance(node, ast.Attribute):
        return node.attr in slugs
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = set(re.findall(r"[A-Za-z_]+|[\d_]+", node.value))
        return bool(words & slugs) or bool(numbers & {word.strip("_") for word in words})
    return isinstance(node, ast.Constant) and type(node.value) is int and str(node.value) in numbers
