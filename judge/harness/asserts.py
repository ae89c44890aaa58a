"""The two sides of a plain ``assert a == b``, told apart as expected and actual."""

from __future__ import annotations

import ast
import linecache
import textwrap
from dataclasses import dataclass

from judge.harness.frames import Trace

MOST_LINES = 12
"""Lines of an assertion that are tried before it is given up."""


@dataclass(frozen=True)
class Compared:
    """The comparison that pytest explained last."""

    operator: str
    left: str
    right: str


def read_sides(trace: Trace, compared: Compared | None) -> tuple[str, str] | None:
    """Return (expected, actual) of the assertion that failed, or ``None`` when it is no plain equality.

    The side that is a literal, or is called ``expected``, is what was expected; else the left one.
    """
    if compared is None or compared.operator != "==" or not trace.shown:
        return None
    code, line = trace.shown[-1]
    equality = _read_equality(code.co_filename, line)
    if equality is None:
        return None
    left, right = equality.left, equality.comparators[0]
    if _is_expectation(right) and not _is_expectation(left):
        return compared.right, compared.left
    return compared.left, compared.right


def _read_equality(filename: str, line: int) -> ast.Compare | None:
    lines = [linecache.getline(filename, line + at) for at in range(MOST_LINES)]
    for count in range(1, MOST_LINES + 1):
        try:
            (statement,) = ast.parse(textwrap.dedent("".join(lines[:count]))).body
        except (SyntaxError, ValueError):
            continue
        test = statement.test if isinstance(statement, ast.Assert) else None
        is_equality = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)
        return test if is_equality and isinstance(test, ast.Compare) else None
    return None


def _is_expectation(side: ast.expr) -> bool:
    if isinstance(side, ast.Name):
        return side.id.startswith(("expected", "wanted"))
    return not any(isinstance(node, ast.Name | ast.Call | ast.Attribute) for node in ast.walk(side))
