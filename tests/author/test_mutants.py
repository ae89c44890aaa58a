"""How the reference is changed."""

from __future__ import annotations

import sys

import pytest

from judge.author.mutants import Mutant, make_mutants
from judge.author.operators import CHOSEN, list_changes
from judge.author.shape import shape_of
from judge.errors import MissingTool


def changes(reference: str, stub: str = "") -> list[tuple[str, str]]:
    """Return before and after of each mutant."""
    return [(mutant.before, mutant.after) for mutant in make_mutants(reference, stub)]


def test_every_chosen_operator_exists() -> None:
    """A new version of cosmic-ray that renames one is noticed here; none is chosen twice."""
    assert len(set(CHOSEN)) == len(CHOSEN)
    assert [] == list(list_changes(""))


def test_one_change_stands_for_all_like_it() -> None:
    """A sum becomes a difference and nothing else; a condition is negated once, however that is written."""
    assert [("return a + b", "return a - b")] == changes("def f(a, b):\n    return a + b\n")
    assert [("if a == b:", "if a != b:")] == changes("def f(a, b):\n    if a == b:\n        return a\n")
    assert [("if not a:", "if a:")] == [
        (before, " ".join(after.split())) for before, after in changes("def f(a):\n    if not a:\n        return a\n")
    ]


def test_a_boundary_is_moved_both_ways() -> None:
    """The equal case goes to the other side; the number becomes one more and one less."""
    expected = ["return a <= 5", "return a < 6", "return a < 4"]
    assert expected == [after for _, after in changes("def f(a):\n    return a < 5\n")]


def test_statements_with_an_effect_are_left_out() -> None:
    """Calls, raises, del, augmented assignments and assignments to attributes and items; not plain names."""
    lines = ("g(a)", "raise ValueError(1 + 1)", "del a[b]", "b += a", "a.c = b", "a[b] = a", "c = b", "a.b: int = b")
    body = "".join(f"    {line}\n" for line in lines)
    left_out = [before for before, after in changes(f'def f(a, b):\n    """Say."""\n{body}') if after == "pass"]
    assert [*lines[:6], lines[7]] == left_out


def test_what_never_runs_or_nobody_judges_is_left_alone() -> None:
    """Annotations, messages of exceptions, assertions, arguments of decorators, printing, type checking."""
    reference = """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LIMIT = 3 | 4

@dataclass(frozen=True, slots=True)
class Pool:
    size: int | None = None

    def __repr__(self):
        return f"{self.size + 1}"

    def f(self, 块: int | None) -> int | None:
        assert 块 is not None
        return 块
"""
    assert [("@dataclass(frozen=True, slots=True)", "")] == changes(reference)


def test_columns_are_counted_in_characters() -> None:
    """Chinese before an annotation takes three bytes a character and one column."""
    assert [("def f(块: int | None = 0): ...", "def f(块: int | None = 1): ...")] == changes(
        "def f(块: int | None = 0): ...\n"
    )[:1]


def test_what_the_stub_gives_is_left_alone() -> None:
    """No learner writes it; docstrings and comments may differ, and so may what stands beside it."""
    given = "class Driver:\n    {}\n    def used(self):\n        return 1 + 1\n\n\ndef total(a):\n    return {}\n"
    stub = given.format('"""Given."""\n', "NotImplementedError")
    reference = given.format("# a comment\n", "a - 1")
    assert {"return a - 1"} == {before for before, _ in changes(reference, stub)}


def test_a_mutant_tells_where_it_changes_what() -> None:
    """Function, line, both texts and a diff; the source is whole."""
    reference = "class Pool:\n\n    @property\n    def size(self):\n        return self.a + 1  # both\n"
    removed, *_, summed = sorted(make_mutants(reference, ""), key=lambda mutant: mutant.after)
    assert ("Pool.size", 3, "@property", "") == (removed.where, removed.line, removed.before, removed.after)
    assert ("Pool.size", 5) == (summed.where, summed.line)
    assert ("return self.a + 1 # both", "return self.a - 1 # both") == (summed.before, summed.after)
    assert "+        return self.a - 1  # both" in summed.diff.splitlines()
    assert reference.replace("+", "-") == summed.source.decode()


def test_mutants_that_are_equal_or_no_programs_are_dropped() -> None:
    """A change that makes the same program as another, or none, would only cost time."""
    reference = "def f(a):\n    for b in a:\n        if b:\n            break\n        continue\n"
    mutants: list[Mutant] = make_mutants(reference, "")
    shapes = {shape_of(mutant.source.decode()) for mutant in mutants}
    assert len(mutants) == len(shapes)
    assert shape_of(reference) not in shapes


def test_without_cosmic_ray_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants are an extra."""
    monkeypatch.setitem(sys.modules, "cosmic_ray.mutating", None)
    with pytest.raises(MissingTool, match="python -m pip install cosmic-ray"):
        make_mutants("x = 1 + 1\n", "")
