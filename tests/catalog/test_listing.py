"""The fast list and its cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.catalog import listing
from judge.catalog.fingerprint import SETTLING_NS
from judge.catalog.listing import Listing, Row, read_rows
from judge.errors import UsageError
from tests.catalog.packing import edit_manifest, write_problem

RING = Row(901, "ring", {"en": "A ring", "zh": "环"}, "memory", 2, "none")


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Return a list that grows by one item each time the problems themselves are read."""
    seen: list[None] = []
    build = listing._build

    def watch(extra: list[Path]) -> Listing:
        seen.append(None)
        return build(extra)

    monkeypatch.setattr(listing, "_build", watch)
    return seen


def settle() -> None:
    """Wait until what was written is old enough to be cached."""
    time.sleep(2 * SETTLING_NS / 1e9)


def cache_file(tmp_path: Path) -> Path:
    """Return the one file of the cache."""
    (file,) = (tmp_path / "cache").iterdir()
    return file


def test_rows_say_what_a_list_shows(pack: Path) -> None:
    """Plain data, by number."""
    write_problem(pack, "1000_wheel")
    write_problem(pack)
    found = read_rows([pack])
    assert (("901_ring", "1000_wheel"), RING, ()) == (
        tuple(row.name for row in found.rows),
        found.rows[0],
        found.faults,
    )


def test_a_second_call_reads_the_cache(pack: Path, builds: list[None]) -> None:
    """And gives the same."""
    write_problem(pack)
    settle()
    assert [Listing((RING,))] * 3 == [read_rows([pack]) for _ in range(3)]
    assert 1 == len(builds)


def test_an_empty_pack_is_cached_too(pack: Path, builds: list[None]) -> None:
    """No rows are rows as well."""
    settle()
    assert [Listing(()), Listing(())] == [read_rows([pack]), read_rows([pack])]
    assert 1 == len(builds)


def edit_in_place(pack: Path) -> None:
    """Exchange one digit and put the old time of modification back."""
    path = pack / "problems" / "901_ring" / "problem.toml"
    before = path.stat()
    path.write_text(edit_manifest("difficulty = 2", "difficulty = 3"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, Callable[[Path], object]] = {
    "edit": lambda pack: (pack / "problems/901_ring/README.md").write_text("# Another\n", encoding="utf-8"),
    "edit-in-place": edit_in_place,
    "edit-of-reference": lambda pack: (pack / "reference/901_ring/solution.py").write_text("x = 1\n", encoding="utf-8"),
    "add": lambda pack: (pack / "problems/901_ring/test_more.py").touch(),
    "add-below": lambda pack: (pack / "problems/901_ring/goldens/deep").mkdir(parents=True),
    "add-to-reference": lambda pack: (pack / "reference/901_ring/wrong_one.py").touch(),
    "remove": lambda pack: (pack / "problems/901_ring/test_solution.py").unlink(),
    "remove-from-reference": lambda pack: (pack / "reference/901_ring/explanation.md").unlink(),
    "rename": lambda pack: (pack / "problems/901_ring/stub.py").rename(pack / "problems/901_ring/stump.py"),
    "new-problem": lambda pack: write_problem(pack, "902_wheel"),
    "exchange": lambda pack: (pack / "problems/901_ring/README.md").replace(pack / "problems/901_ring/README.zh.md"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_any_change_of_a_file_makes_the_cache_stale(
    pack: Path, builds: list[None], change: Callable[[Path], object]
) -> None:
    """In the problem's folder or its reference's: an edit, a new file, a missing one."""
    write_problem(pack)
    settle()
    read_rows([pack])
    read_rows([pack])
    change(pack)
    read_rows([pack])
    assert 2 == len(builds)


def test_an_edit_right_after_a_list_is_seen(pack: Path) -> None:
    """Even within one tick of the file system's clock, and when the size stays."""
    write_problem(pack)
    for difficulty in (1, 2, 3, 4, 5, 1, 2, 3):
        edited = edit_manifest("difficulty = 2", f"difficulty = {difficulty}")
        write_problem(pack, files={"problem.toml": edited})
        assert [difficulty] == [row.difficulty for row in read_rows([pack]).rows]


def test_what_a_test_run_leaves_keeps_the_cache(pack: Path, builds: list[None]) -> None:
    """Byte code and hidden files say nothing about a problem."""
    folder = write_problem(pack)
    settle()
    read_rows([pack])
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "stub.pyc").touch()
    (folder / ".swp").touch()
    read_rows([pack])
    assert 1 == len(builds)


def test_packs_do_not_share_a_cache(pack: Path, tmp_path: Path) -> None:
    """Rows belong to the packs that were asked for."""
    write_problem(pack)
    write_problem(tmp_path / "other", "902_wheel")
    settle()
    for _ in range(2):
        assert ["901_ring"] == [row.name for row in read_rows([pack]).rows]
        assert ["901_ring", "902_wheel"] == [row.name for row in read_rows([pack, tmp_path / "other"]).rows]


def test_faults_are_told_on_every_call(pack: Path, tmp_path: Path) -> None:
    """A broken catalog is never cached, so that faults are fresh and in the language of the call."""
    write_problem(pack)
    write_problem(pack, "902_wheel", files={"stub.py": None})
    settle()
    for _ in range(2):
        found = read_rows([pack])
        assert ((RING,), ["stub.py is missing."]) == (found.rows, [fault.what for fault in found.faults])
    assert not (tmp_path / "cache").exists()


def sound_content(file: Path) -> dict[str, object]:
    """Return what a cache file says."""
    content = json.loads(file.read_bytes())
    assert isinstance(content, dict)
    return content


DAMAGES: dict[str, Callable[[Path], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda file: file.read_bytes()[:-9],
    "not-utf8": lambda _: b"\xff\xfe",
    "deep": lambda _: b"[" * 100_000,
    "list": lambda _: b"[]",
    "other-version": lambda file: json.dumps({**sound_content(file), "version": 0}).encode(),
    "other-state": lambda file: json.dumps({**sound_content(file), "state": "00"}).encode(),
    "no-rows": lambda file: json.dumps({**sound_content(file), "rows": None}).encode(),
    "odd-rows": lambda file: json.dumps({**sound_content(file), "rows": [["number"]]}).encode(),
    "missing-key": lambda file: file.read_bytes().replace(b'"topic"', b'"tropic"'),
    "text-for-number": lambda file: file.read_bytes().replace(b'"difficulty": 2', b'"difficulty": "2"'),
    "number-for-text": lambda file: file.read_bytes().replace(b'"memory"', b"7"),
    "no-chinese": lambda file: file.read_bytes().replace(b'"zh"', b'"fr"'),
    "title-of-numbers": lambda file: file.read_bytes().replace(b'"A ring"', b"7"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_cache_is_rebuilt(
    pack: Path, tmp_path: Path, builds: list[None], damage: Callable[[Path], bytes]
) -> None:
    """It is read once more from the problems, and sound again afterwards."""
    write_problem(pack)
    settle()
    read_rows([pack])
    file = cache_file(tmp_path)
    sound = file.read_bytes()
    damaged = damage(file)
    assert sound != damaged
    file.write_bytes(damaged)
    assert Listing((RING,)) == read_rows([pack])
    assert (2, sound) == (len(builds), file.read_bytes())


def test_a_cache_that_cannot_be_written_is_no_trouble(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is slower, and nothing else."""
    write_problem(pack)
    settle()
    (tmp_path / "file").touch()
    monkeypatch.setenv("TACIT_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert Listing((RING,)) == read_rows([pack])


def test_a_folder_in_place_of_the_cache_is_no_trouble(pack: Path, tmp_path: Path) -> None:
    """And no temporary file is left beside it."""
    write_problem(pack)
    settle()
    read_rows([pack])
    file = cache_file(tmp_path)
    file.unlink()
    file.mkdir()
    assert Listing((RING,)) == read_rows([pack])
    assert [file] == list((tmp_path / "cache").iterdir())


def test_a_full_disk_keeps_the_old_cache(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is exchanged whole or not at all."""
    folder = write_problem(pack)
    settle()
    read_rows([pack])
    file = cache_file(tmp_path)
    sound = file.read_bytes()
    (folder / "test_more.py").touch()
    settle()
    write = Path.write_text

    def fill(path: Path, text: str, encoding: str) -> int:
        write(path, text[:10], encoding=encoding)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fill)
    assert Listing((RING,)) == read_rows([pack])
    assert sound == cache_file(tmp_path).read_bytes()


def test_a_folder_that_is_no_pack_is_a_usage_error(tmp_path: Path) -> None:
    """As everywhere else."""
    with pytest.raises(UsageError, match="is not a pack of problems"):
        read_rows([tmp_path])


def test_a_link_to_itself_inside_a_problem_does_not_stop_the_list(pack: Path) -> None:
    """It only keeps the cache from being used."""
    folder = write_problem(pack)
    (folder / "goldens").mkdir()
    (folder / "goldens" / "loop").symlink_to("loop")
    (folder / "goldens" / "up").symlink_to("..")
    settle()
    assert [Listing((RING,))] * 2 == [read_rows([pack]), read_rows([pack])]


PROGRAM = """
import sys
from pathlib import Path
import judge.catalog.places
from judge.catalog.listing import read_rows
judge.catalog.places.repository_root = lambda: None
heavy = {"pydantic", "torch", "pytest"}
before = sorted(heavy & set(sys.modules))
rows = read_rows([Path(sys.argv[1])]).rows
print(before, [row.name for row in rows], sorted(heavy & set(sys.modules)))
"""


def test_neither_import_nor_a_warm_cache_needs_pydantic(pack: Path) -> None:
    """The process that fills the cache loads it, the next one doesn't."""
    write_problem(pack)
    settle()
    command = [sys.executable, "-c", PROGRAM, str(pack)]
    outputs = [
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip() for _ in range(2)
    ]
    assert ["[] ['901_ring'] ['pydantic']", "[] ['901_ring'] []"] == outputs
