"""The page of fidelity says what the result files say."""

from __future__ import annotations

import pytest

from tests.conformance.agreement import BEGIN, DOCS, END, GROUPS, LANGUAGES, PLACE, Language, build_table, read_results


@pytest.mark.parametrize("words", LANGUAGES, ids=[words.language for words in LANGUAGES])
def test_the_table_is_that_of_the_result_files(words: Language) -> None:
    """``python -m tests.conformance.agreement`` makes it anew."""
    found = PLACE.search((DOCS / words.page).read_text(encoding="utf-8"))
    assert found is not None
    assert BEGIN + build_table(read_results(), words) + END == found[0]


def test_every_group_of_a_result_has_a_row() -> None:
    """No folder of the suite is left out of the table."""
    named = {group.name for group in GROUPS}
    for result in read_results():
        if result is not None:
            assert set() == set(result["groups"]) - named


def test_each_disagreement_is_explained_on_both_pages() -> None:
    """A row that does not agree is named, with the reason."""
    for words in LANGUAGES:
        text = (DOCS / words.page).read_text(encoding="utf-8")
        for result in read_results():
            groups = result["groups"].values() if result is not None else ()
            names = [name for group in groups for name in (*group["disagree"], *group["known"])]
            assert [] == [name for name in names if name.rpartition("[")[2].rstrip("]") not in text]
