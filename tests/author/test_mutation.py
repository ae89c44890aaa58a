"""Which mutants live, and how that is explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from judge.author.bench import Bench, Key
from judge.author.findings import Mutation, Survivor
from judge.author.mutation import judge_mutants
from judge.author.survivors import read_explanations
from judge.models.problem import Problem
from judge.runner.nursery import Ends, Supervisor
from tests.author.editing import brief, edit

ENTRY = """
[[survivor]]
where = "Counter.add"
before = "if self.total > 999:"
after = "{after}"
why.en = "No test counts that far."
why.zh = "没有测试会数到那么大。"
{more}
"""
MORE = "    if self.total > 999:\n            self.full = True\n        return self.total"


def survivor(*, is_equivalent: bool) -> Survivor:
    """Return a survivor."""
    return Survivor(where="f", line=1, before="a", after="b", diff="", is_equivalent=is_equivalent)


def write_survivors(problem: Problem, *entries: str) -> Path:
    """Write the explanations of a problem."""
    path = problem.reference_folder / "survivors.toml"
    path.write_text("".join(entries), encoding="utf-8")
    return path


def test_survivors_are_told_unless_they_are_explained(
    bench: Bench, key: Key, ignore: Callable[[int, int], None]
) -> None:
    """What no test notices is a finding; an explanation quiets it, and a stale explanation is a finding too."""
    edit(bench.problem.reference, "return self.total", MORE.strip())
    write_survivors(
        bench.problem,
        ENTRY.format(after="if self.total >= 999:", more=""),
        ENTRY.format(after="if self.total > 1000:", more="equivalent = false"),
        ENTRY.format(after="if self.total < 999:", more=""),
    )
    started: list[Path] = []

    def start(ends: Ends, scratch: Path) -> Supervisor:
        started.append(scratch)
        return bench.start(ends, scratch)

    mutation, findings = judge_mutants(replace(bench, start=start), key, ignore)
    assert mutation.judged == len(started), "each begins as the bench says: as a copy of the fork server"
    unexplained = [one.after for one in mutation.survivors if one.why is None]
    assert ["if self.total > 998:", "if not self.total > 999:", "self.full = False", "pass"] == unexplained
    explained = [(one.after, one.is_equivalent) for one in mutation.survivors if one.why is not None]
    assert [("if self.total > 1000:", False), ("if self.total >= 999:", True)] == sorted(explained)
    assert [
        ("survivor_stale", "survivors.toml", 18),
        *[("survivor", "solution.py", 18)] * 2,
        *[("survivor", "solution.py", 19)] * 2,
        ("few_killed", "solution.py", None),
    ] == sorted(brief(findings), key=lambda one: ("stale" not in one[0], "few" in one[0], one[2] or 0))
    assert (18, 12) == (mutation.judged, mutation.killed)
    assert pytest.approx(12 / 17) == mutation.share


def test_the_share_leaves_out_what_no_test_could_notice() -> None:
    """An equivalent survivor does not count; one that a test could notice does."""
    both = (survivor(is_equivalent=True), survivor(is_equivalent=False))
    assert 0.75 == Mutation(judged=5, killed=3, survivors=both).share
    assert 1.0 == Mutation(judged=1, killed=0, survivors=both[:1]).share


def test_an_explanation_is_found_by_its_line(problem: Problem) -> None:
    """Without a file there are none."""
    assert ((), []) == read_explanations(problem)
    write_survivors(problem, ENTRY.format(after="", more=""))
    explanations, findings = read_explanations(problem)
    assert [("Counter.add", "", True)] == [(one.where, one.after, one.equivalent) for one in explanations]
    assert [] == findings


@pytest.mark.parametrize(
    ("text", "rule", "told"),
    [
        ("[[survivor]", "survivors_wrong", "line 1"),
        ("[[survivor]]\nwhere = 'f'\n", "survivors_wrong", "survivor.0.before"),
        (ENTRY.format(after="x", more="line = 3"), "survivors_wrong", "survivor.0.line"),
        (ENTRY.format(after="x", more="").replace("没有测试会数到那么大。", ""), "survivor_unsaid", "999"),
    ],
    ids=["syntax", "missing_key", "unknown_key", "one_language"],
)
def test_an_explanation_that_explains_nothing_is_found(problem: Problem, text: str, rule: str, told: str) -> None:
    """Reason and key are told."""
    write_survivors(problem, text)
    (finding,) = read_explanations(problem)[1]
    assert rule == finding.rule
    assert told in finding.what.en
