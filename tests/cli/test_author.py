"""``check`` and ``new``: the commands of a problem's author."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.checkout import PACK, Checkout


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """Return a copy of the small pack that a test may break."""
    return Path(shutil.copytree(PACK, tmp_path / "pack"))


def test_a_sound_problem_is_green(checkout: Checkout) -> None:
    """Exit 0, in the author's language."""
    answer = checkout.call("check", "901", "--no-mutants", "--lang", "zh")
    assert 0 == answer.code
    assert "901 把每个数翻倍" in answer.out
    assert "901_double：敷衍解" == answer.err.splitlines()[-1]


def test_a_log_shows_how_far_a_check_has_come(checkout: Checkout) -> None:
    """Minutes without a word look like a hang; one line a step is enough."""
    answer = checkout.call("check", "901", "--quick")
    assert ["901_double: reference", "901_double: stub", "901_double: wrong solutions"] == answer.err.splitlines()


def test_a_broken_problem_makes_check_fail(checkout: Checkout, tmp_path: Path) -> None:
    """Without a number all problems are checked, those that can't be read included."""
    broken = tmp_path / "other" / "problems" / "903_broken"
    broken.mkdir(parents=True)
    answer = checkout.call("check", "--no-mutants", "--problems", tmp_path / "other")
    assert 1 == answer.code
    assert "903_broken" in "".join(answer.out.split())
    named = checkout.call("check", "903", "--problems", tmp_path / "other")
    assert (3, "") == (named.code, named.out)
    assert "problem.toml" in named.err


def test_a_new_problem_is_created_in_the_pack_that_was_named(checkout: Checkout, pack: Path) -> None:
    """The answer says where its files are and how to check them."""
    answer = checkout.call("new", "950", "my_problem", "--problems", pack, cwd=pack)
    assert (0, "") == (answer.code, answer.err)
    assert "Created problems/950_my_problem and reference/950_my_problem.\n" == answer.out.splitlines(keepends=True)[0]
    assert "--problems . check 950" in answer.out
    assert (pack / "problems" / "950_my_problem" / "problem.toml").is_file()
    again = checkout.call("new", "950", "other", "--problems", pack)
    assert (2, "") == (again.code, again.out)


def test_a_new_problem_needs_a_number(checkout: Checkout) -> None:
    """Exit 2, and nothing is written."""
    answer = checkout.call("new", "zero", "my_problem")
    assert (2, "") == (answer.code, answer.out)
    assert "N must be a whole number from 1 to 99999." in answer.err
