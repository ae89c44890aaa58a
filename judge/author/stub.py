"""The stub: it has holes, and it fails because of them."""

from __future__ import annotations

import ast

from judge.author.bench import Bench, Candidate, Key, OnDone, explain
from judge.author.findings import Finding, find
from judge.models.problem import Problem
from judge.models.status import Status

Function = ast.FunctionDef | ast.AsyncFunctionDef


def judge_stub(bench: Bench, key: Key, on_done: OnDone) -> list[Finding]:
    """Return what is wrong with the stub: a learner's first run must end as *wrong*, and nothing worse."""
    path = bench.problem.stub
    source = path.read_bytes()
    if not list_holes(ast.parse(source)):
        return [find("stub_no_hole", path)]
    (verdict,) = bench.judge_all([Candidate("stub.py", source)], key, on_done)
    if verdict.status is Status.WRONG and verdict.tests:
        return []
    if verdict.status in (Status.ACCEPTED, Status.NOT_JUDGED):
        return [find("stub_accepted", path)]
    return [find("stub_breaks", path, what=explain(verdict))]


def read_sources(problem: Problem) -> tuple[str, str]:
    """Return the texts of stub and reference; an editor's byte order mark is no part of them."""
    return problem.stub.read_text(encoding="utf-8-sig"), problem.reference.read_text(encoding="utf-8-sig")


def list_holes(tree: ast.Module) -> dict[str, Function]:
    """Return the functions and methods that a learner has to write, by qualified name."""
    return {name: node for name, node in list_functions(tree).items() if _is_hole(node)}


def list_functions(tree: ast.Module) -> dict[str, Function]:
    """Return a module's functions and the methods of its classes, by qualified name."""
    found: dict[str, Function] = {}
    for node in tree.body:
        if isinstance(node, Function):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{inner.name}": inner for inner in node.body if isinstance(inner, Function)}
    return found


def _is_hole(function: Function) -> bool:
    """Return whether ``raise NotImplementedError`` stands in the function."""
    for node in ast.walk(function):
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(raised, ast.Name) and raised.id == "NotImplementedError":
                return True
    return False
