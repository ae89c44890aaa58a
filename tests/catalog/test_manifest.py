"""Reading one problem folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from judge.catalog.manifest import EXAMPLES, examine, read_problem
from judge.errors import BrokenProblem
from judge.models.base import Text
from judge.models.problem import DeviceNeed, Limits, Problem, Weights
from tests.catalog.packing import MANIFEST, edit_manifest, write_problem


def complaints(folder: Path) -> list[str]:
    """Return all faults of a problem's folder as a person sees them."""
    return [str(fault) for fault in examine(folder, folder.parents[1] / "reference").faults]


def test_a_sound_folder_becomes_a_problem(pack: Path) -> None:
    """Every key of the manifest arrives, and the folder's name gives the slug."""
    folder = write_problem(pack)
    expected = Problem(
        number=901,
        slug="ring",
        title=Text(en="A ring", zh="环"),
        topic="memory",
        difficulty=2,
        device=DeviceNeed.NONE,
        requires=("torch>=2.11",),
        limits=Limits(wall_s=30),
        weights=Weights(correctness=0.5, time=0.5),
        sources=("a book",),
        folder=folder,
        reference_folder=pack / "reference" / "901_ring",
    )
    assert expected == read_problem(folder, pack / "reference")


def test_paths_are_absolute_even_when_the_call_is_relative(pack: Path, tmp_path: Path) -> None:
    """A child process has another working directory."""
    folder = write_problem(pack).relative_to(tmp_path)
    problem = read_problem(folder, Path("pack/reference"))
    assert (pack / "problems/901_ring", pack / "reference/901_ring") == (problem.folder, problem.reference_folder)


def test_optional_keys_may_be_left_out(pack: Path) -> None:
    """Only number, topic, difficulty and title are needed."""
    manifest = 'number = 901\ntopic = "memory"\ndifficulty = 1\ntitle = { en = "A", zh = "甲" }\n'
    problem = read_problem(write_problem(pack, files={"problem.toml": manifest}), pack / "reference")
    assert (DeviceNeed.ANY, (), Limits(), Weights()) == (
        problem.device,
        problem.requires,
        problem.limits,
        problem.weights,
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        pytest.param(
            "difficulty = 2", 'difficulty = "2"', 3, "from 1 (a quarter of an hour) to 5", id="text-for-number"
        ),
        pytest.param("difficulty = 2", "difficulty = 6", 3, "but it is 6", id="out-of-range"),
        pytest.param("difficulty = 2", "difficulty = 2.5", 3, "but it is 2.5", id="fraction"),
        pytest.param("difficulty = 2", "difficulty = true", 3, "but it is true", id="bool-for-number"),
        pytest.param("difficulty = 2", f"difficulty = 0x{'f' * 5000}", 3, "but it is 0xfff", id="giant"),
        pytest.param("difficulty = 2", "difficulty = 1979-05-27", 3, "but it is 1979-05-27", id="date"),
        pytest.param("number = 901", "number = 902", 1, "write number = 901", id="number-differs"),
        pytest.param("number = 901", 'number = "901"', 1, "example: number = 901", id="number-is-text"),
        pytest.param("number = 901\n", "", None, "`number` is missing", id="number-missing"),
        pytest.param('topic = "memory"', 'topic = "Device Memory"', 2, "small letters", id="topic-pattern"),
        pytest.param('device = "none"', 'device = "gpu"', 4, '"none", "any" or "cuda"', id="device-choice"),
        pytest.param('device = "none"', 'devise = "none"', 4, "Did you mean `device`?", id="misspelt"),
        pytest.param('device = "none"', 'slug = "ring"', 4, "`slug` is unknown", id="slug-comes-from-the-folder"),
        pytest.param('device = "none"', 'folder = "/"', 4, "`folder` is unknown", id="field-of-the-model"),
        pytest.param('device = "none"', "xyz = 1", 4, "number, topic, difficulty", id="unknown-lists-known"),
        pytest.param('device = "none"', '"\\u001b[31m" = 1', 4, r"`\x1b[31m` is unknown", id="unknown-is-inert"),
        pytest.param('device = "none"', "wall_s = 3", 4, "belongs to the table `limits`", id="outside-its-table"),
        pytest.param('zh = "环"', 'zh = "环"\ndevice = "any"', 11, "stands below [title]", id="inside-a-table"),
        pytest.param('zh = "环"', "", 8, "`title.zh` is missing", id="title-without-chinese"),
        pytest.param('zh = "环"', 'zh = " "', 10, "one line that is not empty", id="title-blank"),
        pytest.param('zh = "环"', 'zh = "环\\n环"', 10, "one line that is not empty", id="title-of-two-lines"),
        pytest.param('zh = "环"', 'zh = "环"\nfr = "anneau"', 11, "`title.fr` is unknown", id="title-in-french"),
        pytest.param('["torch>=2.11"]', '"torch>=2.11"', 5, "a list of Python requirements", id="text-for-list"),
        pytest.param('["torch>=2.11"]', '["numpy", "torch>>2"]', 5, "`requires #2` must be", id="no-requirement"),
        pytest.param('["a book"]', "[7]", 6, "`sources #1` must be", id="number-in-list"),
        pytest.param('["a book"]', "[[[[[[[[[[[[[1]]]]]]]]]]]]]", 6, "but it is a list", id="deep-list"),
        pytest.param("wall_s = 30", "wall_s = 0", 13, "above 0 and at most 3600", id="limit-zero"),
        pytest.param("wall_s = 30", "wall_s = inf", 13, "but it is inf", id="limit-infinite"),
        pytest.param("wall_s = 30", "output_bytes = 1.5", 13, "whole number of bytes", id="bytes-fraction"),
        pytest.param("correctness = 0.5", "correctness = -1", 16, "0 or above", id="weight-negative"),
        pytest.param("correctness = 0.5", "correctness = inf", 16, "0 or above", id="weight-infinite"),
        pytest.param("[weights]", "[wheights]", 15, "Did you mean `weights`?", id="table-misspelt"),
    ],
)
def test_a_wrong_manifest_names_key_line_and_remedy(
    pack: Path, old: str, new: str, line: int | None, words: str
) -> None:
    """One mistake is one fault, on its line, in words that say what to write instead."""
    folder = write_problem(pack, files={"problem.toml": edit_manifest(old, new)})
    found = complaints(folder)
    assert 1 == len(found)
    place = "pack/problems/901_ring/problem.toml" + (f":{line}" if line else "")
    assert found[0].startswith(f"{place}: ")
    assert words in found[0]


def test_a_missing_table_is_asked_for_at_the_end(pack: Path) -> None:
    """A key above the first table and a table are added in different places."""
    manifest = 'number = 901\ntopic = "memory"\ndifficulty = 1\n'
    assert [
        "pack/problems/901_ring/problem.toml: The key `title` is missing; it must be a table with `en` and `zh`."
        " Add the line [title] at the end of the file, and its keys below it."
    ] == complaints(write_problem(pack, files={"problem.toml": manifest}))


def test_all_faults_of_a_folder_come_at_once(pack: Path) -> None:
    """An author mends them in one go: manifest in the order of its lines, then hints, then files."""
    manifest = edit_manifest("difficulty = 2", "difficulty = 9").replace("[limits]", "[limit]")
    folder = write_problem(
        pack, files={"problem.toml": manifest, "hints.toml": "hint = 1", "stub.py": None, "solution.py": b"\xff"}
    )
    places = [complaint.split(": ")[0] for complaint in complaints(folder)]
    assert [
        "pack/problems/901_ring/problem.toml:3",
        "pack/problems/901_ring/problem.toml:12",
        "pack/problems/901_ring/hints.toml:1",
        "pack/problems/901_ring/stub.py",
        "pack/reference/901_ring/solution.py:1",
    ] == places


@pytest.mark.parametrize(
    "name",
    [
        "problem.toml",
        "hints.toml",
        "README.md",
        "README.zh.md",
        "stub.py",
        "solution.py",
        "explanation.md",
        "explanation.zh.md",
    ],
)
def test_each_missing_file_is_named(pack: Path, name: str) -> None:
    """The remedy says what the file is for."""
    found = complaints(write_problem(pack, files={name: None}))
    assert 1 == len(found)
    assert f"{name} is missing. Create it: it " in found[0]


@pytest.mark.parametrize("name", ["problem.toml", "hints.toml", "README.zh.md", "explanation.md"])
def test_a_file_that_is_not_utf8_names_the_line(pack: Path, name: str) -> None:
    """Old Chinese encodings are common."""
    found = complaints(write_problem(pack, files={name: "# one\n# 环\n".encode("gb18030")}))
    assert 1 == len(found)
    assert f"{name}:2: {name} is not UTF-8: byte 0xbb fits no character." in found[0]


def test_a_folder_without_tests_is_broken(pack: Path) -> None:
    """Nothing would be judged; a folder of that name is no test."""
    folder = write_problem(pack, files={"test_solution.py": None})
    (folder / "test_more.py").mkdir()
    assert [
        "pack/problems/901_ring: The folder holds no test_*.py. Add test_solution.py with at least one test."
    ] == complaints(folder)


def test_a_missing_reference_folder_is_one_fault(pack: Path) -> None:
    """Not one for each of its files."""
    folder = write_problem(pack, files={"solution.py": None, "explanation.md": None, "explanation.zh.md": None})
    found = complaints(folder)
    assert 1 == len(found)
    assert "The reference folder pack/reference/901_ring is missing." in found[0]


@pytest.mark.parametrize(
    ("name", "good"),
    [
        pytest.param("901-ring", "901_ring", id="dash"),
        pytest.param("901_Ring Buffer", "901_ring_buffer", id="space-and-capital"),
        pytest.param("0901_ring", "901_ring", id="leading-zero"),
        pytest.param("901", "901_my_problem", id="number-only"),
        pytest.param("901_", "901_my_problem", id="no-slug"),
        pytest.param("901_环", "901_my_problem", id="chinese"),
        pytest.param("notes", "901_my_problem", id="no-number"),
        pytest.param("1234567_ring", "901_my_problem", id="number-too-large"),
        pytest.param("٩_ring", "901_my_problem", id="arabic-digit"),
    ],
)
def test_a_bad_folder_name_is_told_a_good_one(pack: Path, name: str, good: str) -> None:
    """The example is as near as can be to what the author wrote."""
    found = complaints(write_problem(pack, name, files={"problem.toml": MANIFEST.format(number=901)}))
    assert 1 == len(found)
    assert f"Rename it, for example to {good};" in found[0]


def test_a_directory_in_place_of_a_file_is_a_fault(pack: Path) -> None:
    """And no traceback."""
    folder = write_problem(pack, files={"problem.toml": None})
    (folder / "problem.toml").mkdir()
    assert ["problem.toml is not a regular file"] == [text.split(": ")[1][:34] for text in complaints(folder)]


def test_a_file_that_links_to_itself_is_a_fault(pack: Path) -> None:
    """And no traceback."""
    folder = write_problem(pack, files={"README.md": None})
    (folder / "README.md").symlink_to("README.md")
    found = complaints(folder)
    assert 1 == len(found)
    assert "README.md can't be read" in found[0]


def test_an_unreadable_file_is_a_fault(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's reason is passed on."""
    folder = write_problem(pack)

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    found = complaints(folder)
    assert 8 == len(found)
    assert "problem.toml can't be read: permission denied. Check its permissions" in found[0]


def test_read_problem_raises_the_first_fault(pack: Path) -> None:
    """Callers that want one problem get one exception."""
    folder = write_problem(
        pack, files={"problem.toml": edit_manifest("difficulty = 2", "difficulty = 9"), "stub.py": None}
    )
    with pytest.raises(BrokenProblem, match="`difficulty` must be"):
        read_problem(folder, pack / "reference")


def test_a_deleted_working_directory_does_not_hide_the_fault(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths are then shown in full."""
    folder = write_problem(pack, files={"stub.py": None})
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert complaints(folder)[0].startswith(f"{folder / 'stub.py'}: ")


def test_faults_are_told_in_chinese_where_chinese_is_spoken(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part of the sentence is, but for what the author wrote."""
    monkeypatch.setenv("TACIT_LANG", "zh")
    folder = write_problem(pack, files={"problem.toml": edit_manifest("difficulty = 2", "difficulty = 9")})
    assert [
        "pack/problems/901_ring/problem.toml:3: `difficulty` 应为：1（一刻钟）到 5（一个周末）的整数；现在是 9。"
        " 请参照此例书写：difficulty = 3"
    ] == complaints(folder)


def test_the_examples_name_exactly_the_keys_of_the_models() -> None:
    """A field that the model gains must be explained to authors."""
    from_place = {"slug", "folder", "reference_folder"}
    assert set(Problem.model_fields) - from_place == set(EXAMPLES[""])
    assert set(Text.model_fields) == set(EXAMPLES["title"])
    assert set(Limits.model_fields) == set(EXAMPLES["limits"])
    assert set(Weights.model_fields) == set(EXAMPLES["weights"])


@pytest.mark.parametrize(
    ("table", "key"),
    [(table, key) for table, keys in EXAMPLES.items() for key in keys],
    ids=[f"{table or 'top'}-{key}" for table, keys in EXAMPLES.items() for key in keys],
)
def test_every_key_set_to_nonsense_is_explained(pack: Path, table: str, key: str) -> None:
    """No key lacks its rule, and an empty list suits none but those that hold lists."""
    lists = {"requires", "sources"}
    where = f"{table}.{key}" if table else key
    manifest = f"{where} = {'7' if key in lists else '[]'}\n"
    found = complaints(write_problem(pack, files={"problem.toml": manifest}))
    assert 1 == sum(f"problem.toml:1: `{where}` must be " in complaint for complaint in found)


@settings(max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace"))))
@example(b"a.b = 1\na.c = [{}]\n[title.en.zh]\n")
@example(b"\xff\xfen\x00")
@example(b"hint = [[[]]]\n'' = ''\n")
def test_no_content_at_all_ends_in_a_traceback(pack: Path, content: bytes) -> None:
    """Whatever stands in the two TOML files, the folder has faults that fit on one line."""
    folder = write_problem(pack, files={"problem.toml": content, "hints.toml": content})
    found = complaints(folder)
    assert [] != found
    assert all(complaint.isprintable() for complaint in found)
