"""One way to show a path to people, and one to keep it in data."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from judge.locale.paths import make_absolute, quote_path, show_path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in ``work`` of a home folder of one's own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "work" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "home" / "work")
    return tmp_path / "home"


def test_a_path_below_the_working_directory_is_relative(home: Path) -> None:
    """However it was given."""
    for given in ("a/b.py", "./a/b.py", "inner/../a/b.py", str(home / "work" / "a" / "b.py")):
        assert "a/b.py" == show_path(given)
    assert "." == show_path(home / "work")


def test_a_path_elsewhere_is_absolute_and_home_is_a_tilde(home: Path) -> None:
    """Nobody has to know where they stand to read it."""
    assert "~/other.py" == show_path("../other.py")
    assert "~/other.py" == show_path(home / "other.py")
    assert str(home.parent / "else.py") == show_path(home.parent / "else.py")


def test_at_the_root_a_path_keeps_its_first_character(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything lies below ``/``: ``w/my.py`` would be no help."""
    monkeypatch.chdir("/")
    assert "/srv/my.py" == show_path("srv/my.py")


def test_a_path_in_a_command_can_be_pasted(home: Path) -> None:
    """A shell expands no quoted tilde, and a space needs quotes."""
    assert str(home / "other.py") == quote_path(home / "other.py")
    assert ["my file.py"] == shlex.split(quote_path("my file.py"))


def test_data_hold_absolute_paths(home: Path) -> None:
    """Without ``..``, which means something else where it is read again."""
    assert home / "work" / "a.py" == make_absolute(Path("a.py"))
    assert home.resolve() / "a.py" == make_absolute(Path("../a.py"))
