"""Where two printed values differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.report.difference import MAX_WORK, Span, compare

SIMILAR = st.text("ab1 ,.\n", max_size=30)


def without(text: str, spans: tuple[Span, ...]) -> str:
    """Return the text with the spans taken out."""
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text


@pytest.mark.parametrize(
    ("expected", "actual", "marked"),
    [
        pytest.param("2097152", "4194304", ["4194304"], id="numbers-as-a-whole"),
        pytest.param("[1, 2, 3]", "[1, 5, 3]", ["5"], id="one-item"),
        pytest.param("0x600", "0x800", ["0x800"], id="addresses"),
        pytest.param("1.25e-3", "1.26e-3", ["1.26e-3"], id="floats"),
        pytest.param("(1, 2)", "(1)", [""], id="missing"),
        pytest.param("a b c", "x b y", ["x", "y"], id="two-places"),
        pytest.param("显存 512", "显存 1024", ["1024"], id="chinese"),
        pytest.param("[['f', 0], ['f', 4]]", "[['f', 0], ['f', 2], ['f', 4]]", ["['f', 2], "], id="one-item-more"),
        pytest.param(
            "[['f', 0], ['f', 4]]", "[['f', 0], ['f', 4], ['f', 5]]", [", ['f', 5]"], id="one-more-at-the-end"
        ),
        pytest.param("[(0, 1), (1, 1)]", "[(1, 1)]", [""], id="one-item-less"),
        pytest.param("a, a", "a, a, a", [", a"], id="equal-items"),
    ],
)
def test_words_and_numbers_are_marked_as_a_whole(expected: str, actual: str, marked: list[str]) -> None:
    """A mark never cuts a number or a word in two."""
    assert marked == [actual[start:end] for start, end in compare(expected, actual).actual]


@given(SIMILAR, SIMILAR)
def test_what_is_not_marked_is_equal(expected: str, actual: str) -> None:
    """Without the marked parts, both texts are the same."""
    found = compare(expected, actual)
    assert without(expected, found.expected) == without(actual, found.actual)


@given(SIMILAR, SIMILAR)
def test_marks_come_in_pairs_and_only_where_something_differs(expected: str, actual: str) -> None:
    """Each part has its counterpart, and equal texts have none."""
    found = compare(expected, actual)
    assert len(found.expected) == len(found.actual)
    assert (expected == actual) == (not found.actual)


def test_very_different_long_texts_are_marked_in_one_piece() -> None:
    """Aligning is given up where it would take long."""
    length = int(MAX_WORK**0.5) + 1
    expected, actual = "a," * length, "b;" * length
    assert ((0, len(actual)),) == compare(expected, actual).actual
