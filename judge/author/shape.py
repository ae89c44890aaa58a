"""By what two programs count as the same: comments, docstrings and ways of writing ``not`` don't matter."""

from __future__ import annotations

import ast
import copy

from judge.author.stub import Function

OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def shape_of(source: str) -> str:
    """Return a text that is equal for programs that differ in nothing that runs.

    Raises:
        SyntaxError: the source is no Python program.
    """
    return ast.dump(_Simplifier().visit(ast.parse(source)))


def shape_of_node(node: ast.AST) -> str:
    """Return such a text for a part of a program."""
    return ast.dump(_Simplifier().visit(copy.deepcopy(node)))


class _Simplifier(ast.NodeTransformer):
    """Rewrites what can be said in two ways to one of them."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        return self._drop_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._drop_docstring(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._drop_docstring(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._drop_docstring(node)

    def _drop_docstring(self, node: ast.Module | ast.ClassDef | Function) -> ast.AST:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        if ast.unparse(node.body[-1]) in ("return", "return None", "pass") and len(node.body) == 1:
            node.body = [ast.Pass()]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """``not a == b`` is ``a != b``; so is its like."""
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Compare) and len(inner.ops) == 1:
            opposite = OPPOSITES.get(type(inner.ops[0]))
            if opposite is not None:
                inner.ops = [opposite()]
                return inner
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = _strip_twice(node.test)
        return self.generic_visit(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        node.test = _strip_twice(node.test)
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = _strip_twice(node.test)
        return self.generic_visit(node)


def _strip_twice(test: ast.expr) -> ast.expr:
    """Return a condition without two ``not`` in a row."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.UnaryOp(op=ast.Not(), operand=inner)):
            return _strip_twice(inner)
    return test
