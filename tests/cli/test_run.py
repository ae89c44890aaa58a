"""Judging: the default command."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

import judge.cli
from judge.cli.session import Session
from judge.errors import JudgeFault
from judge.store.attempts import Attempt, AttemptLog
from tests.cli.checkout import PACK, SOLUTION, Checkout


def last_attempt(checkout: Checkout) -> Attempt:
    """Return the newest attempt on record."""
    return AttemptLog(checkout.home / "data" / "attempts.db").history()[0]


def test_the_first_call_creates_the_practice_file_and_judges_it(checkout: Checkout) -> None:
    """A bare number is enough; the stub is not written yet, hence wrong."""
    answer = checkout.call("901")
    assert 1 == answer.code
    assert answer.out.startswith("Created practice/901_double.py from the stub.\n")
    assert "" == answer.err
    stub = checkout.root / "problems" / "901_double" / "stub.py"
    assert stub.read_bytes() == (checkout.practice / "901_double.py").read_bytes()
    assert ("wrong", str(checkout.practice / "901_double.py")) == (
        last_attempt(checkout).status,
        last_attempt(checkout).path,
    )


@pytest.mark.parametrize("key", ["double", "901_double", "practice/901_double.py", "problems/901_double/", "run 901"])
def test_a_problem_has_many_names(checkout: Checkout, key: str) -> None:
    """Number, slug, folder and path all mean the same; the file that is there is judged as it is."""
    shutil.copy(SOLUTION, checkout.practice / "901_double.py")
    answer = checkout.call(*key.split(" "), "--json")
    assert (0, "") == (answer.code, answer.err)
    verdict = json.loads(answer.out)
    assert ("accepted", str(checkout.practice / "901_double.py")) == (verdict["status"], verdict["submission"]["path"])


def test_a_file_from_anywhere_is_judged(checkout: Checkout) -> None:
    """FILE is relative to where the learner stands; the practice folder stays empty."""
    shutil.copy(SOLUTION, checkout.home / "mine.py")
    answer = checkout.call("901", "mine.py", cwd=checkout.home)
    assert (0, "") == (answer.code, answer.err)
    assert "Accepted" in answer.out
    assert ["judge.py"] == sorted(os.listdir(checkout.practice))  # noqa: PTH208  names are wanted
    attempt = last_attempt(checkout)
    assert ("accepted", 1.0, str(checkout.home / "mine.py")) == (attempt.status, attempt.total, attempt.path)


def test_json_is_alone_on_standard_output(checkout: Checkout) -> None:
    """What else is to be said goes to standard error; an option may stand before the number."""
    answer = checkout.call("--json", "--seed", "7", "901")
    assert 1 == answer.code
    assert 7 == json.loads(answer.out)["seed"]
    assert "Created practice/901_double.py from the stub.\n" == answer.err


def test_junit_is_written_beside_the_report(checkout: Checkout) -> None:
    """CI gets its file, the learner still reads the report."""
    report = checkout.home / "report.xml"
    answer = checkout.call("901", SOLUTION, "--junit", report)
    assert 0 == answer.code
    assert "Accepted" in answer.out
    assert "3" == ElementTree.parse(report).getroot().find("testsuite").attrib["tests"]  # type: ignore[union-attr]


def test_a_junit_file_that_cannot_be_written_is_refused_before_judging(checkout: Checkout) -> None:
    """Nobody waits for a run whose report is lost."""
    answer = checkout.call("901", SOLUTION, "--junit", checkout.home / "no" / "report.xml")
    assert (2, "") == (answer.code, answer.out)
    assert "can't be written" in answer.err
    assert not (checkout.home / "data").exists()


def test_a_missing_file_is_named_with_its_neighbours_and_never_created(checkout: Checkout) -> None:
    """The answer says what is near and how to create the file."""
    (checkout.home / "answer.py").touch()
    answer = checkout.call("901", "answr.py", cwd=checkout.home)
    assert (2, "") == (answer.code, answer.out)
    assert 1 == answer.err.count("\n")
    assert "no file answr.py. Did you mean: answer.py?" in answer.err
    assert "start 901 answr.py" in answer.err
    assert not (checkout.home / "answr.py").exists()


def test_a_path_that_names_no_problem_asks_for_one(checkout: Checkout) -> None:
    """Which problem is my.py for?"""
    answer = checkout.call("./my.py")
    assert (2, "") == (answer.code, answer.out)
    assert "practice/judge.py PROBLEM my.py" in answer.err


@pytest.mark.parametrize("place", ["none", "unwritable"])
def test_without_a_practice_folder_another_way_is_named(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An installed judge has no repository, and a repository may be read-only: a file of one's own will do."""
    (tmp_path / "practice").touch()  # stands for a folder that can't be written, which root always can
    monkeypatch.setattr("judge.cli.practice.repository_root", lambda: None if place == "none" else tmp_path)
    assert 2 == judge.cli.main(["--lang", "en", "--problems", str(PACK), "901"])
    printed = capsys.readouterr()
    assert "" == printed.out
    assert "start 901 FILE" in printed.err
    assert ("There is no practice folder" if place == "none" else "a part of the path is not a folder") in printed.err


def test_a_fault_of_the_judge_is_on_record_as_one(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The attempt did not end by the learner's hand, nor was it interrupted."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("judge.runner.pair.run_pair", fail)
    monkeypatch.setenv("TACIT_DATA_DIR", str(checkout.home / "data"))
    assert 3 == judge.cli.main(["--lang", "en", "--problems", str(PACK), "901", str(SOLUTION)])
    assert "not of your solution: RuntimeError: broken" in capsys.readouterr().err
    assert ("judge_error", None) == (last_attempt(checkout).status, last_attempt(checkout).total)


def test_commands_in_a_report_can_be_pasted(checkout: Checkout) -> None:
    """They call the judge as the learner did, also from another folder; JSON has none of it."""
    for folder, program in ((checkout.root, "practice/judge.py"), (checkout.home, str(checkout.script))):
        answer = checkout.call("901", checkout.root / "problems" / "901_double" / "stub.py", cwd=folder)
        assert [program, "hint", "901"] == answer.out.splitlines()[-1].split()[1:]
    answer = checkout.call("901", checkout.root / "problems" / "901_double" / "stub.py", "--json")
    assert "judge.py" not in answer.out
    unknown = checkout.call("77", cwd=checkout.home)
    assert f"{checkout.script} list" in unknown.err


def test_a_report_shows_paths_from_where_the_learner_stands(checkout: Checkout) -> None:
    """The same file: relative inside the working directory, and with a tilde in the home folder."""
    shutil.copy(checkout.root / "problems" / "901_double" / "stub.py", checkout.home / "mine.py")
    inside = checkout.call("901", "mine.py", cwd=checkout.home)
    assert " mine.py:" in inside.out
    outside = checkout.call("901", checkout.home / "mine.py", HOME=str(checkout.home))
    assert " ~/mine.py:" in outside.out


def test_a_warning_is_given_once(capsys: pytest.CaptureFixture[str]) -> None:
    """However often the store is asked."""
    session = Session("en", "judge")
    for _ in range(2):
        session.warn(JudgeFault("It can't be written."))
    assert "warning: It can't be written.\n" == capsys.readouterr().err


@pytest.mark.parametrize("status", ["unusable", "damaged", "newer"])
def test_judging_goes_on_without_a_store(checkout: Checkout, status: str) -> None:
    """The verdict stands; a warning names the file, which stays as it is."""
    data = checkout.home / "data"
    if status == "unusable":
        data.touch()
    else:
        data.mkdir()
        (data / "attempts.db").write_bytes(b"no database at all" * 99)
    before = data.read_bytes() if data.is_file() else (data / "attempts.db").read_bytes()
    answer = checkout.call("901", SOLUTION)
    assert 0 == answer.code
    assert "Accepted" in answer.out
    assert 1 == answer.err.count("\n")
    assert answer.err.startswith(f"warning: {data / 'attempts.db'}: ")
    assert before == (data.read_bytes() if data.is_file() else (data / "attempts.db").read_bytes())


def test_progress_is_shown_on_a_terminal_and_wiped(checkout: Checkout) -> None:
    """A line says what runs; nothing of it stays above the report."""
    answer = checkout.call_on_terminal("901", SOLUTION)
    assert 0 == answer.code
    live, _, report = answer.out.rpartition("\r\x1b[K")
    assert "Loading the solution" in live
    assert "Accepted" in report
    assert "Loading" not in report


def test_no_progress_is_written_to_a_file(checkout: Checkout) -> None:
    """Neither stream has a control character when nobody is watching."""
    answer = checkout.call("901", SOLUTION)
    assert "\r" not in answer.out + answer.err
    assert "\x1b" not in answer.out + answer.err


def test_a_hostile_file_name_is_shown_inert(checkout: Checkout) -> None:
    """An escape sequence in a name does not reach the terminal."""
    name = "red\x1b[31m.py"
    missing = checkout.call("901", name, cwd=checkout.home)
    assert "\x1b" not in missing.err
    shutil.copy(SOLUTION, checkout.home / name)
    judged = checkout.call("901", name, cwd=checkout.home)
    assert 0 == judged.code
    assert "\x1b" not in judged.out + judged.err + checkout.call("history").out


def test_a_link_loop_is_a_usage_error(checkout: Checkout) -> None:
    """What is no file is refused without running anything."""
    loop = Path(checkout.home / "loop.py")
    loop.symlink_to(loop)
    answer = checkout.call("901", loop)
    assert (2, "") == (answer.code, answer.out)
    assert answer.err.startswith("error: ")
