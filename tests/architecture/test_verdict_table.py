"""The page of fidelity says what the result files of verdicts say."""

from __future__ import annotations

import pytest

from judge.catalog.packs import discover
from tests.conformance.agreement import DOCS
from tests.conformance.verdict_table import BEGIN, END, PAGES, PLACE, Words, build_table, list_exceptions, read_results


@pytest.mark.parametrize("words", PAGES, ids=[words.page for words in PAGES])
def test_the_table_is_that_of_the_result_files(words: Words) -> None:
    """``python -m tests.conformance.verdict_table`` makes it anew."""
    found = PLACE.search((DOCS / words.page).read_text(encoding="utf-8"))
    assert found is not None
    assert BEGIN + build_table(read_results(), words) + END == found[0]


def test_every_problem_was_judged() -> None:
    """A result file leaves none out."""
    names = {problem.name for problem in discover().problems}
    for result in read_results():
        if result is not None:
            assert names == set(result["problems"])


def test_what_is_not_as_expected_is_explained_on_both_pages() -> None:
    """Each solution is named with its problem."""
    for words in PAGES:
        text = (DOCS / words.page).read_text(encoding="utf-8")
        for result in read_results():
            assert [] == [name for name in (list_exceptions(result) if result else []) if name not in text]
