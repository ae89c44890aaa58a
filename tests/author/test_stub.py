"""The stub must fail, and only fail."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge.author.bench import Bench, Key
from judge.author.stub import judge_stub
from tests.author.editing import brief, edit

Ignore = Callable[[int, int], None]


def test_a_stub_that_is_not_written_yet_is_fine(bench: Bench, key: Key, ignore: Ignore) -> None:
    """Its first run ends as wrong: not written yet."""
    assert [] == judge_stub(bench, key, ignore)


def test_a_stub_without_a_hole_is_found(bench: Bench, key: Key, ignore: Ignore) -> None:
    """A learner must see what is missing, not find out from a wrong value."""
    edit(bench.problem.stub, "raise NotImplementedError  # TODO", "return None")
    assert [("stub_no_hole", "stub.py", None)] == brief(judge_stub(bench, key, ignore))


def test_a_stub_that_passes_is_found(bench: Bench, key: Key, ignore: Ignore) -> None:
    """A hole that no test asks for makes the stub a solution."""
    text = bench.problem.reference.read_text(encoding="utf-8")
    bench.problem.stub.write_text(f"{text}\n\ndef more() -> None:\n    raise NotImplementedError\n", encoding="utf-8")
    assert [("stub_accepted", "stub.py", None)] == brief(judge_stub(bench, key, ignore))


@pytest.mark.parametrize(
    ("line", "told"),
    [("1 / 0", "ZeroDivisionError"), ("import os; os._exit(0)", "exit code 0")],
    ids=["exception", "exit"],
)
def test_a_stub_that_breaks_is_found(bench: Bench, key: Key, ignore: Ignore, line: str, told: str) -> None:
    """Whatever is worse than wrong is no start for a learner."""
    edit(bench.problem.stub, "class Counter:", f"{line}\n\nclass Counter:")
    (finding,) = judge_stub(bench, key, ignore)
    assert "stub_breaks" == finding.rule
    assert told in finding.what.en
