"""The pages that map the curriculum to problems name problems that exist, and all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judge.catalog.packs import discover

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("curriculum.md", "curriculum.zh-CN.md")
NUMBER = re.compile(r"(?<!\d)\d{3,4}(?!\d)")
OPEN = ("open", "尚缺")


def read_rows(page: str) -> list[list[str]]:
    """Return the cells of each row of each table, heads left out."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for at, row in enumerate(rows) if row[0][:3] != "---" and rows[at + 1 : at + 2] != [["---"] * len(row)]]


def list_promised(row: list[str]) -> set[int]:
    """Return the numbers that a row gives as problems to be solved today."""
    said = re.split("|".join(OPEN), row[1])[0]
    return {int(number) for number in NUMBER.findall(said)}


@pytest.mark.parametrize("page", PAGES)
def test_each_number_is_a_problem_and_each_problem_is_named(page: str) -> None:
    """What is still open stands behind that word, or in the last column."""
    known = {problem.number for problem in discover().problems}
    promised = set().union(*(list_promised(row) for row in read_rows(page)))
    assert known == promised


def test_both_pages_say_the_same() -> None:
    """Row by row, the same numbers in the same columns."""
    english, chinese = ([[NUMBER.findall(cell) for cell in row[1:]] for row in read_rows(page)] for page in PAGES)
    assert english == chinese
