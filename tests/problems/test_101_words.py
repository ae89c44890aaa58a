"""What the tests of problem 101 show a learner: maps in both languages, and which part has which type."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from rich.cells import cell_len

FOLDER = Path(__file__).parents[2] / "problems" / "101_caching_allocator"
BLOCKS = [(0, 512, True), (512, 2096640, False)]


@pytest.fixture(scope="module")
def maps() -> ModuleType:
    """Return the problem's module, loaded from its file."""
    spec = importlib.util.spec_from_file_location("support_map_of_101", FOLDER / "support_map.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_map_is_the_same_drawing_in_both_languages(maps: ModuleType) -> None:
    """Only its words differ; a Chinese caption takes two columns a character, and the rows still line up."""
    rows = {maps.ACTUAL: BLOCKS, ("yours", "你的"): []}
    english, chinese = (text.splitlines() for text in maps.draw_map((0, 2 << 20, 3), 0, rows))
    assert len(english) == len(chinese)
    assert not re.search("[\u4e00-\u9fff]", "".join(english))
    assert not re.search("[a-wyz]", "".join(chinese)), "0x is the only Latin word"
    for text in (english, chinese):
        row = next(line for line in text if "[(" in line)
        caret = next(line for line in text if line.strip() == "^")
        assert cell_len(row[: row.index("[")]) == caret.index("^")
        assert max(map(cell_len, text)) <= 76


@pytest.mark.parametrize(
    ("snapshot", "odd"),
    [
        ([(0, 512, 0, [(0, 512, True)])], None),
        ({}, ("snapshot()", "list", "dict")),
        ([[0, 512, 0, []]], ("snapshot()[0]", "tuple[int, int, int, list]", "list[int, int, int, list]")),
        ([(0, 512, 0, [(0, 512, 1)])], ("snapshot()[0][3][0]", "tuple[int, int, bool]", "tuple[int, int, int]")),
        ([(0, 512, 0, [None])], ("snapshot()[0][3][0]", "tuple[int, int, bool]", "NoneType")),
    ],
    ids=["right", "a dict", "a list for a tuple", "an int for a bool", "nothing"],
)
def test_the_first_part_of_another_type_is_named(maps: ModuleType, snapshot: object, odd: object) -> None:
    """With the type that it should have, and the one that it has."""
    assert odd == maps.find_odd_part(snapshot)
