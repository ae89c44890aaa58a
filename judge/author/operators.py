"""Which changes a mutant makes: a choice among cosmic-ray's operators, and one of our own.

One change for each thing that can go wrong, not every change there is: a test that notices ``a - b`` in
place of ``a + b`` notices ``a * b`` as well, so the other ten would cost time and tell nothing.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judge.errors import MissingTool
from judge.locale import choose_language, say

ARITHMETIC = (
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_FloorDiv",
    "ReplaceBinaryOperator_Div_Mul",
    "ReplaceBinaryOperator_FloorDiv_Mul",
    "ReplaceBinaryOperator_Mod_FloorDiv",
    "ReplaceBinaryOperator_Pow_Mul",
    "ReplaceBinaryOperator_RShift_LShift",
    "ReplaceBinaryOperator_LShift_RShift",
    "ReplaceBinaryOperator_BitOr_BitAnd",
    "ReplaceBinaryOperator_BitAnd_BitOr",
    "ReplaceBinaryOperator_BitXor_BitAnd",
    "ReplaceUnaryOperator_Delete_USub",
    "ReplaceUnaryOperator_Delete_Invert",
)
"""The wrong sign or the wrong operation."""

BOUNDARIES = (
    "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_GtE_Gt",
    "NumberReplacer",
)
"""Off by one: the equal case on the wrong side, a number that is one more or one less."""

DECISIONS = (
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Is_IsNot",
    "ReplaceComparisonOperator_IsNot_Is",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceUnaryOperator_Delete_Not",
    "AddNot",
)
"""The other branch."""

FLOW = (
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ZeroIterationForLoop",
    "ExceptionReplacer",
    "RemoveDecorator",
)
"""A loop that goes on, ends early or does nothing; an exception that is not caught; a decorator that is missing."""

CHOSEN = (*ARITHMETIC, *BOUNDARIES, *DECISIONS, *FLOW)

Position = tuple[int, int]
"""Line, from 1, and column in characters, from 0."""


@dataclass(frozen=True)
class Change:
    """One place where one operator can change a program."""

    operator: str
    start: Position
    _kit: Any
    _operator: Any
    _occurrence: int

    def apply(self, source: str) -> str | None:
        """Return the changed program; ``None`` where the operator gives up."""
        changed: str | None = self._kit.mutate_code(source, self._operator, self._occurrence)
        return changed


def require_cosmic_ray() -> None:
    """See to it that mutants can be made.

    Raises:
        MissingTool: cosmic-ray is not installed.
    """
    try:
        importlib.import_module("cosmic_ray.mutating")
    except ImportError:
        language = choose_language(sys.argv[1:])
        raise MissingTool(
            say("author.no_cosmic_ray", language), remedy=say("author.no_cosmic_ray_remedy", language)
        ) from None


def list_changes(source: str) -> Iterator[Change]:
    """Yield every place where one of the chosen operators can change a program.

    Raises:
        MissingTool: cosmic-ray is not installed.
    """
    require_cosmic_ray()
    kit = importlib.import_module("cosmic_ray.mutating")
    plugins = importlib.import_module("cosmic_ray.plugins")
    syntax = importlib.import_module("cosmic_ray.ast")
    nodes = list(syntax.ast_nodes(syntax.get_ast(source)))
    operators: dict[str, Any] = {name: plugins.get_operator(f"core/{name}")() for name in CHOSEN}
    operators["DeleteStatement"] = DeleteStatement()
    for name, operator in operators.items():
        starts = [start for node in nodes for start, _stop in operator.mutation_positions(node)]
        for occurrence, start in enumerate(starts):
            yield Change(name, tuple(start), kit, operator, occurrence)


class DeleteStatement:
    """Our own operator, shaped like cosmic-ray's: a statement that only has an effect is left out.

    Calls, augmented assignments, assignments to attributes and items, ``del`` and ``raise``. Leaving out an
    assignment to a name would mostly end in a ``NameError``, which every test notices.
    """

    def mutation_positions(self, node: Any) -> Iterator[tuple[Position, Position]]:  # noqa: ANN401  parso is optional
        """Yield start and end of the statement that ``node`` is, if it is one of those."""
        if node.type == "simple_stmt" and self._has_effect(node.children[0]):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:  # noqa: ANN401, ARG002  cosmic-ray's signature
        """Put ``pass`` in the statement's place."""
        first = node.children[0]
        leaf = importlib.import_module("parso.python.tree").Keyword
        node.children[0] = leaf("pass", first.start_pos, first.get_first_leaf().prefix)
        return node

    @staticmethod
    def _has_effect(statement: Any) -> bool:  # noqa: ANN401  parso is optional
        if statement.type in ("atom_expr", "power", "await_expr", "del_stmt", "raise_stmt"):
            return True
        if statement.type != "expr_stmt":
            return False
        target, sign = statement.children[:2]
        if sign.type == "annassign":
            is_assignment = len(sign.children) == 4
        else:
            is_assignment = sign.type == "operator" and sign.value == "="
            if not is_assignment:
                return True
        return is_assignment and target.type in ("atom_expr", "power")
