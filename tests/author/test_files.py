"""Files and pages of a problem."""

from __future__ import annotations

import pytest

from judge.author.layout import find_orphans, find_strays
from judge.author.pages import check_pages
from judge.models.problem import Problem
from tests.author.editing import brief, edit


def test_a_whole_problem_has_no_strays_and_whole_pages(problem: Problem) -> None:
    """The small pack is as it should be; goldens, conftest.py and survivors.toml may be there."""
    (problem.folder / "conftest.py").touch()
    (problem.folder / "goldens").mkdir()
    (problem.folder / "goldens" / "traces.json").touch()
    (problem.folder / "__pycache__").mkdir()
    (problem.reference_folder / "survivors.toml").touch()
    assert [] == [*find_strays(problem), *find_orphans([problem]), *check_pages(problem)]


def test_an_unknown_file_is_named(problem: Problem) -> None:
    """A file that the layout does not know is never read, so it must not lie there."""
    (problem.folder / "draft.txt").touch()
    (problem.reference_folder / "old").mkdir()
    findings = find_strays(problem)
    assert [("stray", "draft.txt", None), ("stray", "old", None)] == brief(findings)
    assert "draft.txt" in findings[0].what.en
    assert "problem.toml" in findings[0].remedy.zh


@pytest.mark.parametrize(
    ("name", "meant"),
    [("README.zh-CN.md", "README.zh.md"), ("hint.toml", "hints.toml"), ("golden/", "goldens/")],
    ids=["page", "hints", "folder"],
)
def test_a_misspelled_file_is_told_its_right_name(problem: Problem, name: str, meant: str) -> None:
    """A name that is nearly right was meant for something."""
    path = problem.folder / name
    path.mkdir() if name.endswith("/") else path.touch()
    (finding,) = find_strays(problem)
    assert "stray_close" == finding.rule
    assert meant in finding.remedy.en


def test_a_module_that_tests_share_belongs_there(problem: Problem) -> None:
    """By its name it can be told from a test file that is misspelled."""
    (problem.folder / "support_map.py").touch()
    (problem.folder / "tests_more.py").touch()
    (problem.reference_folder / "survivors.toml").touch()
    assert ["tests_more.py"] == [finding.file.name for finding in find_strays(problem)]


def test_a_picture_belongs_there_when_a_page_shows_it(problem: Problem) -> None:
    """A drawing that no page mentions is a leftover."""
    for name in ("shown.svg", "left.svg"):
        (problem.reference_folder / name).touch()
    edit(problem.reference_folder / "explanation.md", "# Why", "# Why\n\n![A drawing](shown.svg)")
    assert [("stray", "left.svg", None)] == brief(find_strays(problem))


def test_a_reference_without_a_problem_is_named(problem: Problem) -> None:
    """A reference folder whose problem was renamed would lie there for ever."""
    (problem.reference_folder.parent / "902_gone").mkdir()
    findings = find_orphans([problem, problem])
    assert [("orphan", "902_gone", None)] == brief(findings)
    assert "problems/902_gone" in findings[0].remedy.en


@pytest.mark.parametrize("name", ["README.md", "README.zh.md", "explanation.md", "explanation.zh.md"])
def test_an_empty_page_is_found(problem: Problem, name: str) -> None:
    """A heading alone explains nothing."""
    folder = problem.folder if name.startswith("README") else problem.reference_folder
    (folder / name).write_text("# 标题\n\n", encoding="utf-8")
    assert [("page_empty", name, None)] == brief(check_pages(problem))


def test_a_chinese_page_in_english_is_found(problem: Problem) -> None:
    """A copy of the English page is no translation."""
    (problem.reference_folder / "explanation.zh.md").write_text("# Why\n\nMultiplication.\n", encoding="utf-8")
    (finding,) = check_pages(problem)
    assert ("page_not_chinese", "explanation.zh.md") == (finding.rule, finding.file.name)
    assert "explanation.md" in finding.remedy.en


def test_a_problem_without_hints_is_found(problem: Problem) -> None:
    """A learner who is stuck must get somewhere."""
    (problem.folder / "hints.toml").write_text("hint = []\n", encoding="utf-8")
    assert [("no_hints", "hints.toml", None)] == brief(check_pages(problem))


def test_a_hint_in_one_language_is_found(problem: Problem) -> None:
    """Both languages have the same hints; each must be in its language."""
    hints = problem.folder / "hints.toml"
    edit(hints, "[[hint]]", '# Gentle.\n[[hint]]\nen = "Think."\nzh = "想一想。"\n\n[[hint]]')
    edit(hints, "一个数加上自己就是翻倍。", "Double it.")
    assert [("hint_not_chinese", "hints.toml", 8)] == brief(check_pages(problem))
