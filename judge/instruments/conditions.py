"""Lines that not every turn of their loop, nor every call of their function, comes to."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from functools import cache

Function = ast.FunctionDef | ast.AsyncFunctionDef
LOOPS = (ast.For, ast.AsyncFor, ast.While)


@cache
def find_conditional(file: str) -> frozenset[int]:
    """Return the numbers of a file's lines that stand under a condition inside their loop or function.

    So does the body of a function that is called from such lines only. Nothing is returned of a file that can't be
    read: what is asked is a preference, no proof.
    """
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    reader = _Reader()
    reader.read(tree.body, is_conditional=False, is_inside=False)
    return reader.finish()


class _Reader:
    def __init__(self) -> None:
        self.lines: set[int] = set()
        self.functions: list[Function] = []
        self.calls: dict[str, set[bool]] = {}
        """By the function's name: whether the calls stand under a condition."""

    def read(self, body: Iterable[ast.stmt], *, is_conditional: bool, is_inside: bool) -> None:
        """Read statements; ``is_inside`` tells whether a loop or function is around them."""
        for node in body:
            if is_conditional:
                self.lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            self._note_calls(node, is_conditional)
            if isinstance(node, Function):
                self.functions.append(node)
                self.read(node.body, is_conditional=False, is_inside=True)
            elif isinstance(node, LOOPS):
                self.lines.difference_update(range(node.body[0].lineno, (node.body[-1].end_lineno or 0) + 1))
                self.read(node.body, is_conditional=False, is_inside=True)
                self.read(node.orelse, is_conditional=is_conditional, is_inside=is_inside)
            elif isinstance(node, ast.If):
                for branch in (node.body, node.orelse):
                    self.read(branch, is_conditional=is_inside, is_inside=is_inside)
            else:
                self._read_others(node, is_conditional, is_inside)

    def _read_others(self, node: ast.stmt, is_conditional: bool, is_inside: bool) -> None:
        """Read what stands in a ``with``, a ``try``, a ``match`` or a class."""
        inside = is_inside and not isinstance(node, ast.ClassDef)
        for name in ("body", "orelse", "finalbody"):
            self.read(getattr(node, name, ()), is_conditional=is_conditional, is_inside=inside)
        for rare in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self.read(rare.body, is_conditional=is_inside, is_inside=inside)

    def _note_calls(self, node: ast.stmt, is_conditional: bool) -> None:
        """Note the calls in a statement's own expressions, not in the statements below it."""
        todo: list[ast.AST] = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        todo += [item.context_expr for item in getattr(node, "items", ()) if isinstance(item, ast.withitem)]
        for expression in todo:
            for part in ast.walk(expression):
                if isinstance(part, ast.Call) and isinstance(part.func, ast.Name | ast.Attribute):
                    name = part.func.id if isinstance(part.func, ast.Name) else part.func.attr
                    self.calls.setdefault(name, set()).add(is_conditional)

    def finish(self) -> frozenset[int]:
        """Return the lines, with the bodies of functions that only conditional lines call."""
        for function in self.functions:
            if self.calls.get(function.name) == {True}:
                self.lines.update(range(function.lineno, (function.end_lineno or function.lineno) + 1))
        return frozenset(self.lines)
