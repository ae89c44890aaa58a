"""Answers that do not try."""

from __future__ import annotations

from collections.abc import Callable

from judge.author.bench import Bench, Candidate, Key
from judge.author.stub import read_sources
from judge.author.trivial import judge_trivial, make_answers
from tests.author.editing import brief

STUB = '''
from functools import cached_property


def given(size):
    return size + 1


class Pool:
    """A pool."""

    def __init__(self, driver):
        raise NotImplementedError  # TODO

    @staticmethod
    def align(size, *, grain=512):
        raise NotImplementedError

    def held(self):
        """Return what is held."""
        raise NotImplementedError("later")
'''


def list_answers(stub: str, reference: str) -> list[tuple[str, str]]:
    """Return answer and function of each trivial answer."""
    return [(answer.answer, answer.function) for answer in make_answers(stub, reference)]


def test_the_stub_is_filled_and_what_is_given_is_kept() -> None:
    """Holes do as the answer says; __init__ returns nothing, and what has no argument returns None."""
    answers = {answer.answer: answer.source.decode() for answer in make_answers(STUB, "")}
    assert ["return None", "return 0", "return []", "return first"] == list(answers)
    first = answers["return first"]
    assert "return size + 1" in first
    assert "def __init__(self, driver):\n        return None" in first
    assert "grain=512):\n        return size" in first
    assert "def held(self):\n        return None" in first


def test_each_hole_is_emptied_alone_in_the_reference() -> None:
    """Where the reference says the same itself, or inherits the function, there is no such answer."""
    reference = "class Base: ...\nclass Pool(Base):\n    def held(self):\n        '''Nothing.'''\n        return 0\n"
    found = [pair for pair in list_answers(STUB, reference) if pair[1]]
    assert [("return None", "Pool.held"), ("return []", "Pool.held")] == found


def test_trivial_answers_that_pass_are_found(bench: Bench, key: Key, ignore: Callable[[int, int], None]) -> None:
    """A function that no test looks at is named, and so is an answer that passes as a whole."""
    unseen = "\n\ndef unseen(value: int) -> int:\n    {}\n"
    for path, body in (
        (bench.problem.stub, "raise NotImplementedError"),
        (bench.problem.reference, "return value + 1"),
    ):
        path.write_text(path.read_text(encoding="utf-8") + unseen.format(body), encoding="utf-8")
    answers = [one for one in make_answers(*read_sources(bench.problem)) if one.function in ("unseen", "double")]
    chosen = [one for one in answers if one.answer in ("return 0", "return value")]
    assert [("return 0", "double"), ("return 0", "unseen"), ("return value", "unseen")] == [
        (one.answer, one.function) for one in chosen
    ]
    findings, undecided = judge_trivial(bench, chosen, key, ignore)
    assert [("trivial_function_accepted", "stub.py", None)] * 2 == brief(findings)
    assert "`return value`" in findings[1].what.en
    assert 0 == undecided


def test_a_whole_solution_that_is_trivial_and_passes_is_found(
    bench: Bench, key: Key, ignore: Callable[[int, int], None]
) -> None:
    """Here the stub gives everything but what no test asks for."""
    text = bench.problem.reference.read_text(encoding="utf-8")
    bench.problem.stub.write_text(f"{text}\ndef more(x):\n    raise NotImplementedError\n", encoding="utf-8")
    answers = make_answers(*read_sources(bench.problem))
    findings, _ = judge_trivial(bench, answers[-1:], key, ignore)
    assert [("trivial_accepted", "stub.py", None)] == brief(findings)
    assert "return <the first argument>" in findings[0].what.en


def test_a_candidate_is_named_by_its_hash() -> None:
    """Generated sources are submissions like any other."""
    submission = Candidate("solution.py", b"x = 1\n").as_submission()
    assert ("solution.py", 6, 64) == (submission.shown_path, submission.size_bytes, len(submission.sha256))
