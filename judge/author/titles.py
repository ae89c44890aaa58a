"""The test files as text: each test has a title in both languages, and knows nothing that it must not."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.author.findings import Finding, find
from judge.author.pages import has_chinese
from judge.models.problem import Problem

FORBIDDEN = ("judge", "reference")
"""Packages that a problem's tests must not import."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class TestFunction:
    """A test, as its file writes it."""

    __test__ = False  # pytest: this is no test class

    path: Path
    id: str
    """Node id without parameters, for example ``test_solution.py::test_a_block_is_reused``."""
    line: int
    document: str


def read_test_functions(problem: Problem) -> list[TestFunction]:
    """Return the tests of a problem's test files, in the order in which they stand.

    Raises:
        SyntaxError: a test file is no Python program.
    """
    return [
        TestFunction(path, f"{path.name}::{name}", node.lineno, ast.get_docstring(node) or "")
        for path in sorted(problem.folder.glob("test_*.py"))
        for name, node in _walk_tests(ast.parse(path.read_bytes(), path.name).body, "")
    ]


def _walk_tests(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, Function) and node.name.startswith("test"):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _walk_tests(node.body, f"{prefix}{node.name}::")


def check_tests(problem: Problem) -> list[Finding]:
    """Return what is wrong with the test files before any of them runs."""
    findings = []
    for path in sorted(problem.folder.glob("*.py")):
        try:
            tree = ast.parse(path.read_bytes(), path.name)
        except (SyntaxError, ValueError) as fault:
            line = getattr(fault, "lineno", None)
            findings.append(find("no_program", path, line=line, name=path.name, reason=getattr(fault, "msg", fault)))
            continue
        if path.name != "stub.py":
            findings += _check_imports(path, tree)
    if not findings:
        findings += [finding for test in read_test_functions(problem) for finding in _check_title(test)]
    return findings


def _check_imports(path: Path, tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        names: list[str] = []
        line = None
        if isinstance(node, ast.Import):
            names, line = [alias.name for alias in node.names], node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names, line = [node.module], node.lineno
        for name in names:
            if name.split(".")[0] in FORBIDDEN:
                yield find("test_imports", path, line=line, name=name)


def _check_title(test: TestFunction) -> Iterator[Finding]:
    """A test's first paragraph is its English name, the one after ``zh:`` its Chinese name."""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(test.document).split("\n\n")]
    name = test.id.rpartition("::")[2]
    if not paragraphs[0] or paragraphs[0].startswith("zh:"):
        yield find("title_no_english", test.path, line=test.line, name=name)
    chinese = next((part[3:].strip() for part in paragraphs if part.startswith("zh:")), "")
    if not has_chinese(chinese):
        yield find("title_no_chinese", test.path, line=test.line, name=name)
