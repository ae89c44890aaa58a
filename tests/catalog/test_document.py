"""Lines of keys in TOML files."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.catalog.document import Document, Key, read_document
from judge.errors import BrokenProblem

TEXT = '''\
# number = 1 in a comment
number = 5

notes = """
topic = "not here"
[limits]
wall_s = 3
"""
topic = "memory"
title.en = "A"
requires = [
  "one",
  "two",
]
weights = { time = 1 }
[limits]

"test_s" = 4
[[hint]]
en = "a"
[[hint]]
en = "b"
zh = "c"
'''


def read(tmp_path: Path, text: str) -> Document:
    """Return the document of a file with this text."""
    path = tmp_path / "problem.toml"
    path.write_bytes(text.encode())
    return read_document(path, folder=tmp_path)


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize(
    ("key", "line"),
    [
        pytest.param(("number",), 2, id="plain"),
        pytest.param(("topic",), 9, id="after-a-text-that-looks-like-it"),
        pytest.param(("title", "en"), 10, id="dotted"),
        pytest.param(("title",), 10, id="table-of-a-dotted-key"),
        pytest.param(("requires", 1), 11, id="item-of-a-list"),
        pytest.param(("weights", "time"), 15, id="inline-table"),
        pytest.param(("limits",), 16, id="header"),
        pytest.param(("limits", "test_s"), 18, id="quoted"),
        pytest.param(("hint", 1), 21, id="second-table-of-an-array"),
        pytest.param(("hint", 1, "zh"), 23, id="last-line"),
        pytest.param(("limits", "wall_s"), None, id="absent"),
        pytest.param(("hint", 2), None, id="absent-item"),
        pytest.param(("number", "deeper"), None, id="below-a-number"),
    ],
)
def test_each_key_is_found_on_the_line_where_it_is_written(
    tmp_path: Path, key: Key, line: int | None, newline: str
) -> None:
    """The line is that of the statement, whatever form of TOML it uses."""
    assert line == read(tmp_path, TEXT.replace("\n", newline)).line_of(key)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("number = 1\ntopic = memory\n", 2, "topic = memory", id="unquoted"),
        pytest.param("number = 1\nnumber = 2\n\n", 2, "only once", id="twice"),
        pytest.param('number = 1\n[title]\nen = "a"\n[title]\n', 4, "only once", id="table-twice"),
        pytest.param("number = 1\n\nrequires = [\n\n", 3, "requires = [", id="unclosed"),
        pytest.param("number = 1\nflag = True\n", 2, "small letters", id="python-bool"),
        pytest.param("a = " + "[" * 5000, None, "make it simpler", id="deep"),
        pytest.param("a = " + "1" * 5000, None, "make it simpler", id="giant"),
        pytest.param("a = '\u001b[31m\n", 1, r"\x1b", id="escape-sequence"),
    ],
)
def test_broken_toml_names_the_line_and_shows_it(tmp_path: Path, text: str, line: int | None, words: str) -> None:
    """A beginner sees which line to mend, and how."""
    with pytest.raises(BrokenProblem) as caught:
        read(tmp_path, text)
    place = "problem.toml" if line is None else f"problem.toml:{line}"
    assert place == caught.value.place
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    """Some editors write one without asking."""
    assert {"number": 1} == read(tmp_path, "\ufeffnumber = 1\n").data


def test_a_long_file_is_searched_quickly(tmp_path: Path) -> None:
    """The search halves the file: ten thousand lines take no ten thousand parses."""
    text = "".join(f"key_{at} = {at}\n" for at in range(10_000))
    assert 9_001 == read(tmp_path, text).line_of(("key_9000",))
