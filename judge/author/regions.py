"""Parts of the reference in which a change would prove nothing about the tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from judge.author.operators import Position
from judge.author.shape import shape_of_node
from judge.author.stub import Function, list_functions

Placed = ast.stmt | ast.expr

PRINTED = ("__repr__", "__str__")
"""Methods that only people read."""


@dataclass(frozen=True)
class Region:
    """From a position up to, and not including, another one."""

    start: Position
    stop: Position

    def holds(self, position: Position) -> bool:
        """Return whether a position lies inside."""
        return self.start <= position < self.stop


def find_quiet_regions(reference: str, stub: str) -> list[Region]:
    """Return where no change is tried.

    Annotations, which never run; what is raised with an exception and what an assertion says; arguments of
    decorators, as in ``@dataclass(slots=True)``; ``__repr__``; blocks for type checkers and for running as a
    script; and what the stub gives as it is, because no learner writes it.
    """
    lines = reference.splitlines(keepends=True)
    tree = ast.parse(reference)
    quiet = [node for top in ast.walk(tree) for node in _list_quiet(top)]
    regions = [_region_of(node, lines) for node in quiet]
    promised = list_functions(ast.parse(stub))
    for name, function in list_functions(tree).items():
        if function.name in PRINTED and name not in promised:
            regions.append(_region_of(function, lines))
    return regions + [_region_of(node, lines) for node in _list_given(tree, ast.parse(stub))]


def _list_quiet(node: ast.AST) -> Iterator[Placed]:
    """Yield the quiet parts that hang directly in a node."""
    if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        yield node.annotation
    if isinstance(node, Function):
        yield from [node.returns] if node.returns else []
    if isinstance(node, Function | ast.ClassDef):
        yield from (one for one in node.decorator_list if isinstance(one, ast.Call))
    if isinstance(node, ast.Raise):
        yield from node.exc.args if isinstance(node.exc, ast.Call) else []
    if isinstance(node, ast.Assert):
        yield node
    if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'"):
        yield node


def _list_given(reference: ast.Module, stub: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements, at the top and in classes, that stand in the stub word for word."""
    given = {(owner, shape_of_node(node)) for owner, node in _list_statements(stub)}
    for owner, node in _list_statements(reference):
        if (owner, shape_of_node(node)) in given:
            yield node


def _list_statements(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield each statement with the class that it stands in, empty at the top."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from ((node.name, inner) for inner in node.body)
        yield "", node


def _region_of(node: Placed, lines: list[str]) -> Region:
    """Return a node's place, decorators included, with columns in characters as parso counts them."""
    start = (node.lineno, _character(lines, node.lineno, node.col_offset))
    if isinstance(node, Function | ast.ClassDef) and node.decorator_list:
        start = (node.decorator_list[0].lineno, 0)  # the sign @ stands before the decorator
    line, byte = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return Region(start, (line, _character(lines, line, byte)))


def _character(lines: list[str], line: int, byte: int) -> int:
    return len(lines[line - 1].encode()[:byte].decode())
