"""Text of a learner's is inert wherever it is shown."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.report.inert import KEPT, escape, plain

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m", id="ansi"),
        pytest.param("\x9b31m", r"\x9b31m", id="c1-csi"),
        pytest.param("a\x00\x07\x08\x7f", r"a\x00\x07\x08\x7f", id="c0-and-del"),
        pytest.param("50%\r100%", r"50%\r100%", id="carriage-return"),
        pytest.param("\ud800", r"\ud800", id="unpaired-surrogate"),
        pytest.param("\u202eexe.gnp\u2066", r"\u202eexe.gnp\u2066", id="bidi"),
        pytest.param("a\u200bb\ufeff\u00ad", r"a\u200bb\ufeff\xad", id="zero-width"),
        pytest.param("\ue000\U000f0000", r"\ue000\U000f0000", id="private"),
        pytest.param("\U000e0041\ufe0f\u3164", r"\U000e0041\ufe0f\u3164", id="tags-and-fillers"),
        pytest.param("\u2028\u2029\xa0", r"\u2028\u2029\xa0", id="separators"),
    ],
)
def test_what_acts_or_is_unseen_becomes_an_escape(text: str, expected: str) -> None:
    """Each sort of character that is not drawn is spelt out."""
    assert expected == plain(text)


@pytest.mark.parametrize(
    "text",
    ["two\nlines\tand a tab", "显存\u3000分配器", "naïve café é", "[bold]no markup[/bold] \\", "😀 ∑ ░▒"],
    ids=["lines", "chinese", "accents", "brackets", "symbols"],
)
def test_what_is_seen_stays(text: str) -> None:
    """Ordinary text is not changed."""
    assert text == plain(text)


def test_line_ends_of_windows_become_plain_ones() -> None:
    """A line end is a line end whatever wrote it."""
    assert "a\nb\\r" == plain("a\r\nb\r")


def test_a_pile_of_marks_is_thinned() -> None:
    """Combining marks can't climb over the lines around them."""
    assert "a" + "\u0301" * 3 + r"\u0301" * 2 == plain("a" + "\u0301" * 5)


@given(ANY_TEXT)
def test_nothing_but_seen_characters_and_line_ends_is_left(text: str) -> None:
    """Whatever goes in, every character that comes out is printable, or a wanted blank."""
    assert "" == "".join(character for character in plain(text) if not (character.isprintable() or character in KEPT))


@given(ANY_TEXT)
def test_inert_text_stays_as_it_is(text: str) -> None:
    """A second pass changes nothing."""
    assert plain(text) == plain(plain(text))


@given(ANY_TEXT)
def test_inert_text_is_legal_in_xml_and_utf_8(text: str) -> None:
    """It survives a trip through an XML document."""
    element = ElementTree.Element("a")
    element.text = plain(text)
    assert plain(text) == (ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8")).text or "")


@given(st.characters(exclude_categories=()))
def test_an_escape_names_its_character(character: str) -> None:
    """Python reads the escape as the character that it stands for."""
    assert character == escape(character).encode("ascii").decode("unicode-escape")
