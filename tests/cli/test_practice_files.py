"""``start`` and ``reset``: nothing that a learner wrote is ever lost."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.cli.checkout import Checkout


def read_stub(checkout: Checkout) -> bytes:
    """Return the stub of 901."""
    return (checkout.root / "problems" / "901_double" / "stub.py").read_bytes()


def test_start_creates_the_practice_file_once(checkout: Checkout) -> None:
    """A second start leaves the file alone and says how to begin anew."""
    path = checkout.practice / "901_double.py"
    answer = checkout.call("start", "901")
    assert 0 == answer.code
    assert answer.out.startswith("Created practice/901_double.py from the stub.\nJudge it with: ")
    assert answer.out.endswith("practice/judge.py 901\n")
    assert read_stub(checkout) == path.read_bytes()
    path.write_text("mine")
    again = checkout.call("start", "901")
    assert (2, "") == (again.code, again.out)
    assert "practice/901_double.py is there already" in again.err
    assert "reset 901" in again.err
    assert "mine" == path.read_text()


def test_start_takes_a_file_or_a_folder(checkout: Checkout) -> None:
    """The command that it shows can be pasted, spaces included."""
    answer = checkout.call("start", "901", "my file.py", cwd=checkout.home)
    assert 0 == answer.code
    command = shlex.split(answer.out.splitlines()[1].removeprefix("Judge it with: "))
    assert ["901", "my file.py"] == command[-2:]
    assert 0 == checkout.call("start", "901", checkout.home).code
    assert read_stub(checkout) == (checkout.home / "my file.py").read_bytes()
    assert read_stub(checkout) == (checkout.home / "901_double.py").read_bytes()


def test_a_folder_that_is_missing_is_named(checkout: Checkout) -> None:
    """The answer says which, and how to create it; nothing is created by guess."""
    answer = checkout.call("start", "901", "new folder/mine.py", cwd=checkout.home)
    assert (2, "") == (answer.code, answer.out)
    assert "The folder new folder does not exist. Create it first: mkdir -p 'new folder'" in answer.err
    assert not (checkout.home / "new folder").exists()


def test_remedies_name_the_pack_that_was_given(checkout: Checkout) -> None:
    """A command that is shown works as it is shown, wherever ``--problems`` was typed."""
    pack = checkout.home / "my pack"
    (pack / "problems").mkdir(parents=True)
    answer = checkout.call("start", "901", "mine.py", "--problems", pack, cwd=checkout.home)
    command = shlex.split(answer.out.splitlines()[1].removeprefix("Judge it with: "))
    assert ["--problems", "my pack", "901", "mine.py"] == command[-4:]


def test_reset_keeps_every_earlier_text_under_its_own_number(checkout: Checkout) -> None:
    """Backups are never overwritten, not even those of the learner's own making."""
    path = checkout.practice / "901_double.py"
    (checkout.practice / "901_double.py.2.bak").write_text("a stranger's")
    for text in ("first", "second"):
        path.write_text(text)
        answer = checkout.call("reset", "practice/901_double.py")
        assert 0 == answer.code
        assert read_stub(checkout) == path.read_bytes()
    assert (
        "Your text is kept in practice/901_double.py.3.bak.\npractice/901_double.py is the stub again.\n" == answer.out
    )
    kept = [(checkout.practice / f"901_double.py.{number}.bak").read_text() for number in (1, 2, 3)]
    assert ["first", "a stranger's", "second"] == kept


def test_reset_of_a_stub_changes_nothing(checkout: Checkout) -> None:
    """There is nothing to keep."""
    checkout.call("start", "901")
    answer = checkout.call("reset", "901")
    assert (0, "practice/901_double.py is the stub already; nothing was changed.\n") == (answer.code, answer.out)
    assert ["901_double.py", "judge.py"] == sorted(path.name for path in checkout.practice.iterdir())


def test_reset_without_a_file_starts_one(checkout: Checkout) -> None:
    """Somebody who deleted the file wants the stub."""
    answer = checkout.call("reset", "901")
    assert 0 == answer.code
    assert answer.out.startswith("Created practice/901_double.py")


def test_reset_follows_a_link(checkout: Checkout) -> None:
    """A practice file that lies elsewhere stays there, with its permissions."""
    target = checkout.home / "elsewhere.py"
    target.write_text("mine")
    target.chmod(0o640)
    (checkout.practice / "901_double.py").symlink_to(target)
    assert 0 == checkout.call("reset", "901").code
    assert (checkout.practice / "901_double.py").is_symlink()
    assert (read_stub(checkout), 0o640) == (target.read_bytes(), target.stat().st_mode & 0o777)


def test_reset_of_a_folder_is_refused(checkout: Checkout) -> None:
    """What is no file stays as it is."""
    Path(checkout.practice / "901_double.py").mkdir()
    answer = checkout.call("reset", "901")
    assert (2, "") == (answer.code, answer.out)
    assert "was left as it is: it is a folder." in answer.err
