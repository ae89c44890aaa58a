"""Trivial answers: functions that do nothing but return a constant or their first argument.

Two families are built from the stub's holes: all of them filled alike, in the stub; and each of them
alone, in the reference, which shows a function that no test looks at.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from judge.author.bench import Bench, Candidate, Key, OnDone, explain
from judge.author.findings import Finding, find, text
from judge.author.shape import shape_of
from judge.author.stub import Function, list_functions, list_holes
from judge.models.status import Status

ANSWERS = ("return None", "return 0", "return []", "return first")
"""``first`` stands for the function's first argument."""


@dataclass(frozen=True)
class TrivialAnswer:
    """A submission that does not try."""

    answer: str
    """What the functions do, as code."""
    function: str
    """Qualified name of the one function of the reference that does it; empty: all holes of the stub."""
    source: bytes


def judge_trivial(bench: Bench, answers: list[TrivialAnswer], key: Key, on_done: OnDone) -> tuple[list[Finding], int]:
    """Return a finding for each trivial answer that is accepted, and how many only skipped tests could refuse."""
    path = bench.problem.stub
    candidates = [Candidate("solution.py", answer.source) for answer in answers]
    verdicts = bench.judge_all(candidates, key, on_done, to_first_failure=True)
    findings = []
    for answer, verdict in zip(answers, verdicts, strict=True):
        shown = text("first_argument") if answer.answer == ANSWERS[-1] else answer.answer
        if verdict.status is Status.JUDGE_ERROR:
            findings.append(find("run_broke", path, name=shown, what=explain(verdict)))
        elif verdict.status is Status.ACCEPTED:
            rule = "trivial_function_accepted" if answer.function else "trivial_accepted"
            findings.append(find(rule, path, function=answer.function, answer=shown))
    return findings, sum(verdict.status is Status.NOT_JUDGED for verdict in verdicts)


def make_answers(stub: str, reference: str) -> list[TrivialAnswer]:
    """Return the trivial answers to a problem, none twice.

    Args:
        stub: text of the stub; what is given in it stays as it is.
        reference: text of the reference.
    """
    holes = list(list_holes(ast.parse(stub)))
    answers = [*_fill_stub(stub, holes), *_fill_reference(reference, holes)]
    seen = {shape_of(reference)}
    kept = []
    for answer in answers:
        shape = shape_of(answer.source.decode())
        if shape not in seen:
            seen.add(shape)
            kept.append(answer)
    return kept


def _fill_stub(stub: str, holes: list[str]) -> Iterator[TrivialAnswer]:
    for answer in ANSWERS:
        tree = ast.parse(stub)
        functions = list_functions(tree)
        for hole in holes:
            _fill(functions[hole], answer, is_method="." in hole)
        yield TrivialAnswer(answer, "", ast.unparse(tree).encode())


def _fill_reference(reference: str, holes: list[str]) -> Iterator[TrivialAnswer]:
    whole = ast.parse(reference)
    for hole in holes:
        if hole not in list_functions(whole):
            continue  # inherited or assigned: there is no body to replace
        for answer in ANSWERS:
            tree = copy.deepcopy(whole)
            written = _fill(list_functions(tree)[hole], answer, is_method="." in hole)
            if written is not None:
                yield TrivialAnswer(written, hole, ast.unparse(tree).encode())


def _fill(function: Function, answer: str, *, is_method: bool) -> str | None:
    """Replace a function's body; return it, or ``None`` where the answer doesn't fit and ``return None`` stands."""
    first = _first_argument(function, is_method=is_method)
    # __init__ may return nothing: another answer would fail for a reason that no test has to find.
    fits = (function.name != "__init__" or answer == "return None") and ("first" not in answer or bool(first))
    body = answer.replace("first", first) if fits else "return None"
    function.body = ast.parse(f"def body():\n    {body}").body[0].body  # type: ignore[attr-defined]  # a def
    return body if fits else None


def _first_argument(function: Function, *, is_method: bool) -> str:
    is_static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in function.decorator_list)
    positional = [*function.args.posonlyargs, *function.args.args]
    own = positional[1:] if is_method and not is_static else positional
    arguments = [*own, *function.args.kwonlyargs]
    return arguments[0].arg if arguments else ""
