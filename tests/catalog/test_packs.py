"""Finding every problem of every pack."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judge.catalog import places
from judge.catalog.packs import Catalog, discover
from judge.errors import UsageError
from tests.catalog.packing import edit_manifest, write_problem


def names(catalog: Catalog) -> list[str]:
    """Return the names of the problems that can be judged."""
    return [problem.name for problem in catalog.problems]


def complaints(catalog: Catalog) -> list[str]:
    """Return the faults as a person sees them."""
    return [str(fault) for fault in catalog.faults]


def test_problems_of_all_packs_come_by_number(pack: Path, tmp_path: Path) -> None:
    """By number, not by the spelling of the folder's name, nor by pack."""
    for name in ("1000_last", "99_first"):
        write_problem(pack, name)
    write_problem(tmp_path / "other", "500_middle")
    catalog = discover([pack, tmp_path / "other"])
    assert (["99_first", "500_middle", "1000_last"], ()) == (names(catalog), catalog.faults)


def test_the_repository_comes_first(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pack of a teacher's own can't take over one of its numbers."""
    own = tmp_path / "own"
    write_problem(own, "901_own")
    write_problem(pack, "901_ring")
    monkeypatch.setattr("judge.catalog.places.repository_root", lambda: own)
    catalog = discover([pack])
    assert ["901_own"] == names(catalog)
    assert 1 == len(catalog.faults)


def test_no_pack_at_all_is_an_empty_catalog() -> None:
    """The judge may be installed without its repository."""
    assert Catalog((), ()) == discover()


def test_a_broken_problem_leaves_the_good_ones_alone(pack: Path) -> None:
    """Its faults stand beside them."""
    write_problem(pack, "901_ring")
    write_problem(pack, "902_broken", files={"problem.toml": "number = ", "README.md": None})
    write_problem(pack, "903_wheel")
    catalog = discover([pack])
    assert ["901_ring", "903_wheel"] == names(catalog)
    assert ["pack/problems/902_broken/problem.toml:1", "pack/problems/902_broken/README.md"] == [
        fault.place for fault in catalog.faults
    ]


def test_one_pack_given_in_many_ways_is_no_duplicate(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given twice, relative, through a symbolic link, or as the repository itself."""
    write_problem(pack)
    (tmp_path / "link").symlink_to("pack")
    monkeypatch.setattr("judge.catalog.places.repository_root", lambda: pack)
    catalog = discover([pack, Path("pack"), tmp_path / "link", pack / "problems" / ".."])
    assert (["901_ring"], ()) == (names(catalog), catalog.faults)


def test_a_number_taken_twice_names_both(pack: Path, tmp_path: Path) -> None:
    """The first found stays, and the second is told about it."""
    write_problem(pack, "901_ring")
    write_problem(tmp_path / "other", "901_wheel")
    catalog = discover([pack, tmp_path / "other"])
    assert ["901_ring"] == names(catalog)
    assert [
        "other/problems/901_wheel/problem.toml: Number 901 is taken twice: by pack/problems/901_ring and by "
        "other/problems/901_wheel. Give one of them another number, in its folder's name and in its problem.toml;"
        " until then 901 is pack/problems/901_ring."
    ] == complaints(catalog)


def test_a_number_taken_twice_in_one_pack_is_a_fault_too(pack: Path) -> None:
    """Within a pack, folders are found by name."""
    write_problem(pack, "901_wheel")
    write_problem(pack, "901_ring")
    catalog = discover([pack])
    assert (["901_ring"], 1) == (names(catalog), len(catalog.faults))


@pytest.mark.parametrize("broken", ["pack", "other", "both"])
def test_a_duplicate_hides_no_other_fault(pack: Path, tmp_path: Path, broken: str) -> None:
    """Both its own faults and the duplicate are told, and a sound problem keeps the number."""
    roots = {"pack": pack, "other": tmp_path / "other"}
    for name, root in roots.items():
        manifest = edit_manifest("difficulty = 2", "difficulty = 9")
        write_problem(root, f"901_{name}", {"problem.toml": manifest} if broken in (name, "both") else {})
    catalog = discover(list(roots.values()))
    assert {"pack": ["901_other"], "other": ["901_pack"], "both": []}[broken] == names(catalog)
    for name in roots if broken == "both" else [broken]:
        own = f"{name}/problems/901_{name}/problem.toml:3: `difficulty` must be"
        assert 1 == sum(complaint.startswith(own) for complaint in complaints(catalog))
    assert 1 == sum("is taken twice" in complaint for complaint in complaints(catalog))


def test_what_tools_leave_behind_is_no_problem(pack: Path) -> None:
    """Caches, hidden folders, plain files, and a folder in which only a cache is left."""
    write_problem(pack)
    for name in ("__pycache__", ".git", ".901_hidden", "902_left/__pycache__"):
        (pack / "problems" / name).mkdir(parents=True)
    (pack / "problems" / "README.md").write_text("Problems.")
    catalog = discover([pack])
    assert (["901_ring"], ()) == (names(catalog), catalog.faults)


def test_other_folders_are_faults(pack: Path) -> None:
    """A problem whose folder is misnamed must not silently be missing."""
    (pack / "problems" / "drafts").mkdir()
    (pack / "problems" / "902_empty").mkdir()
    catalog = discover([pack])
    assert 1 == sum("The folder name drafts" in complaint for complaint in complaints(catalog))
    assert 1 == sum("902_empty/problem.toml: " in complaint for complaint in complaints(catalog))


@pytest.mark.parametrize("target", ["902_loop", "nowhere"])
def test_a_link_that_leads_nowhere_is_a_fault(pack: Path, target: str) -> None:
    """And no traceback."""
    write_problem(pack)
    (pack / "problems" / "902_loop").symlink_to(target)
    catalog = discover([pack])
    assert ["901_ring"] == names(catalog)
    assert [True] == ["902_loop can't be read" in complaint for complaint in complaints(catalog)]


def test_a_linked_problem_folder_is_a_problem(pack: Path, tmp_path: Path) -> None:
    """Under the name of the link."""
    write_problem(pack)
    write_problem(tmp_path / "other")
    shutil.rmtree(pack / "problems" / "901_ring")
    (pack / "problems" / "901_ring").symlink_to(tmp_path / "other" / "problems" / "901_ring")
    assert ["901_ring"] == names(discover([pack]))


@pytest.mark.parametrize(
    ("refused", "sound"),
    [
        pytest.param("problems", [], id="all-problems"),
        pytest.param("problems/902_wheel", ["901_ring"], id="one-problem"),
        pytest.param("reference/902_wheel", ["901_ring"], id="one-reference"),
    ],
)
def test_an_unreadable_folder_is_a_fault(
    pack: Path, monkeypatch: pytest.MonkeyPatch, refused: str, sound: list[str]
) -> None:
    """The system's reason is passed on, and what can be read is."""
    write_problem(pack, "901_ring")
    write_problem(pack, "902_wheel")
    read = Path.iterdir

    def refuse(path: Path) -> object:
        if path == pack / refused:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "iterdir", refuse)
    catalog = discover([pack])
    assert sound == names(catalog)
    start = f"pack/{refused}: {Path(refused).name} can't be read: permission denied."
    assert [True] == [complaint.startswith(start) for complaint in complaints(catalog)]


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        pytest.param("empty", "empty/problems/901_my_problem/problem.toml", id="no-problems"),
        pytest.param("nowhere", "nowhere/problems/901_my_problem/problem.toml", id="no-folder"),
        pytest.param("loop", "loop/problems/901_my_problem/problem.toml", id="loop"),
        pytest.param("a\0b", "problem.toml", id="null-byte"),
        pytest.param("pack/problems", "Did you mean the folder above, pack?", id="problems-itself"),
        pytest.param("pack/problems/901_ring", "Did you mean the folder above, pack?", id="a-problem"),
    ],
)
def test_a_folder_that_is_no_pack_is_told_the_layout(pack: Path, tmp_path: Path, folder: str, words: str) -> None:
    """A usage error that names the folder and shows what a pack looks like."""
    write_problem(pack)
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError) as caught:
        discover([pack, Path(folder)])
    assert f"The folder {folder} is not a pack of problems".replace("\0", "\\x00") in str(caught.value)
    assert words in str(caught.value)
    assert 2 == caught.value.exit_code


def test_the_repository_is_the_folder_above_the_package(
    pack: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where it holds ``problems/``; an installed package stands among others."""
    monkeypatch.undo()
    monkeypatch.setattr("judge.__file__", str(pack / "judge" / "__init__.py"))
    assert pack == places.repository_root()
    monkeypatch.setattr("judge.__file__", str(tmp_path / "site-packages" / "judge" / "__init__.py"))
    assert places.repository_root() is None
