"""Finding the problem that a person means."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.catalog.lookup import find
from judge.catalog.packs import Catalog, discover
from judge.errors import BrokenProblem, ProblemNotFound
from tests.catalog.packing import edit_manifest, write_problem


@pytest.fixture
def catalog(pack: Path) -> Catalog:
    """Return a catalog of sound problems and broken ones."""
    for name in ("7_event", "101_pinned_ring", "102_wheel", "110_graph_wheel", "111_twin", "112_twin"):
        write_problem(pack, name)
    write_problem(pack, "103_gone", files={"README.md": None})
    write_problem(
        pack,
        "104_wrong",
        files={"problem.toml": edit_manifest("difficulty = 2", "difficulty = 9", 104), "stub.py": None},
    )
    write_problem(pack, "105-Dashed")
    return discover([pack])


@pytest.mark.parametrize(
    "key",
    [
        "101",
        "0101",
        " 101 ",
        "pinned_ring",
        "Pinned-Ring",
        "101_pinned_ring",
        "101-PINNED-ring",
        pytest.param("１０１", id="full-width-digits"),
    ],
)
def test_a_problem_is_found_by_number_slug_and_folder(catalog: Catalog, key: str) -> None:
    """Whatever the case, dashes and width of the characters."""
    assert "101_pinned_ring" == find(catalog, key).name


@pytest.mark.parametrize(
    ("key", "near"),
    [
        pytest.param("pined_ring", ["101_pinned_ring"], id="misspelt-slug"),
        pytest.param("100", ["101_pinned_ring", "102_wheel", "110_graph_wheel"], id="near-number"),
        pytest.param("119", ["110_graph_wheel", "111_twin", "112_twin"], id="number-above"),
        pytest.param("101_ring", ["101_pinned_ring"], id="right-number-wrong-slug"),
        pytest.param("graph", ["110_graph_wheel"], id="part-of-a-slug"),
    ],
)
def test_a_miss_names_near_problems(catalog: Catalog, key: str, near: list[str]) -> None:
    """By spelling, by number and by part of the name, with their titles."""
    with pytest.raises(ProblemNotFound) as caught:
        find(catalog, key)
    assert f"There is no problem {key}." == caught.value.what
    assert all(f"{name} (A ring)" in str(caught.value.remedy) for name in near)
    assert str(caught.value.remedy).startswith("Did you mean ")


@pytest.mark.parametrize("key", ["", "99999999999", "xyzzy", "\x1b[31m", "1" * 5000, "a" * 5000])
def test_a_wild_miss_points_to_the_list(catalog: Catalog, key: str) -> None:
    """Nothing is suggested that has nothing to do with it, and the message is one short line."""
    with pytest.raises(ProblemNotFound) as caught:
        find(catalog, key)
    assert "All problems: judge list" == caught.value.remedy
    assert caught.value.what.isprintable()
    assert len(caught.value.what) < 120


def test_a_miss_in_an_empty_catalog_says_so() -> None:
    """The problem is not the number but that there are no problems."""
    with pytest.raises(ProblemNotFound, match="No problems were found at all"):
        find(Catalog(()), "101")


def test_a_slug_of_two_problems_asks_for_the_number(catalog: Catalog) -> None:
    """No one is chosen silently."""
    with pytest.raises(ProblemNotFound, match="called twin: 111_twin, 112_twin"):
        find(catalog, "twin")
    assert "112_twin" == find(catalog, "112").name


@pytest.mark.parametrize("key", ["103", "gone", "103_gone", "103-GONE"])
def test_a_broken_problem_is_told_to_be_broken(catalog: Catalog, key: str) -> None:
    """It is there: saying that it isn't would mislead."""
    with pytest.raises(BrokenProblem) as caught:
        find(catalog, key)
    assert (
        "pack/problems/103_gone/README.md: Problem 103_gone is broken and can't be judged: README.md is missing."
        " Create it: it is the statement in English."
    ) == str(caught.value)


def test_a_problem_broken_twice_says_how_often(catalog: Catalog) -> None:
    """The first fault is shown, the others are counted."""
    with pytest.raises(BrokenProblem, match=r"but it is 9\. \(More faults: 1; to see them: judge list\)"):
        find(catalog, "104")


@pytest.mark.parametrize("key", ["105", "dashed", "105-dashed"])
def test_a_misnamed_folder_is_found_too(catalog: Catalog, key: str) -> None:
    """The author asks for the name that was written."""
    with pytest.raises(BrokenProblem, match="Rename it, for example to 105_dashed"):
        find(catalog, key)


def test_a_sound_problem_wins_over_its_duplicate(pack: Path, tmp_path: Path) -> None:
    """The number leads to the one that keeps it, the other's name to its fault."""
    write_problem(pack, "901_ring")
    write_problem(tmp_path / "other", "901_wheel")
    catalog = discover([pack, tmp_path / "other"])
    assert "901_ring" == find(catalog, "901").name
    with pytest.raises(BrokenProblem, match="taken twice"):
        find(catalog, "wheel")


def test_a_miss_is_told_in_chinese(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the Chinese titles."""
    monkeypatch.setenv("TACIT_LANG", "zh")
    with pytest.raises(ProblemNotFound) as caught:
        find(catalog, "pined_ring")
    assert "没有题目 pined_ring。 你要找的是不是 101_pinned_ring（环）？查看全部题目：judge list" == str(caught.value)
