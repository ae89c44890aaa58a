"""The attempt store: what goes in comes out, and nothing is ever changed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from judge.errors import JudgeFault
from judge.store.attempts import AttemptLog

VERDICT = json.dumps({"total": 0.75, "wall_s": 1.5})


@pytest.fixture
def log(tmp_path: Path) -> AttemptLog:
    """Return an empty log in a folder that does not exist yet."""
    return AttemptLog(tmp_path / "deep" / "attempts.db")


def begin(log: AttemptLog, number: int = 901) -> int:
    """Begin an attempt of the numbered problem."""
    return log.begin(number, "double", "mine.py", "ab" * 32)


def change(log: AttemptLog, statement: str) -> None:
    """Run a statement on the file, past the log."""
    connection = sqlite3.connect(log.path)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        with connection:
            connection.execute(statement)
    finally:
        connection.close()


def test_a_missing_file_is_an_empty_log_and_is_not_created(log: AttemptLog) -> None:
    """Reading leaves no trace."""
    assert () == log.history()
    assert frozenset() == log.solved()
    assert frozenset() == log.hints_seen(901)
    assert not log.path.parent.exists()


def test_an_empty_file_is_an_empty_log(log: AttemptLog) -> None:
    """A file of no bytes, as a full disk leaves it, can be read and filled."""
    log.path.parent.mkdir()
    log.path.touch()
    assert () == log.history()
    assert 1 == begin(log)


def test_an_attempt_without_an_end_has_no_status(log: AttemptLog) -> None:
    """What was begun and never finished is on record as just that."""
    begin(log)
    (attempt,) = log.history()
    assert (901, "double", "mine.py", None, None, None) == (
        attempt.number,
        attempt.slug,
        attempt.path,
        attempt.status,
        attempt.total,
        attempt.wall_s,
    )
    assert attempt.started_at.tzinfo is not None


def test_an_ending_gives_status_points_and_duration(log: AttemptLog) -> None:
    """The figures of the verdict come back without parsing it."""
    log.finish(begin(log), "accepted", VERDICT)
    (attempt,) = log.history()
    assert ("accepted", 0.75, 1.5) == (attempt.status, attempt.total, attempt.wall_s)


def test_history_is_newest_first_by_problem_and_limited(log: AttemptLog) -> None:
    """The last attempts come first; one problem's can be asked for alone."""
    ids = [begin(log, number) for number in (901, 902, 901, 901)]
    assert ids[::-1] == [attempt.id for attempt in log.history()]
    assert [ids[3], ids[2]] == [attempt.id for attempt in log.history(901, limit=2)]


def test_solved_are_the_problems_accepted_at_least_once(log: AttemptLog) -> None:
    """A later wrong attempt takes nothing away; other endings give nothing."""
    for number, status in ((901, "accepted"), (901, "wrong"), (902, "not_judged"), (903, "wrong")):
        log.finish(begin(log, number), status, VERDICT)
    begin(log, 904)
    assert frozenset({901}) == log.solved()


def test_seen_hints_are_counted_by_problem(log: AttemptLog) -> None:
    """A hint shown twice is one hint."""
    log.see_hints(901, [1, 3])
    log.see_hints(901, [3])
    assert frozenset({1, 3}) == log.hints_seen(901)
    assert frozenset() == log.hints_seen(902)


def test_a_name_that_is_no_text_is_kept_as_an_escape(log: AttemptLog) -> None:
    """A file name of undecodable bytes reaches Python with lone surrogates."""
    log.begin(901, "double", "caf\udce9.py", "ab" * 32)
    assert "caf\\udce9.py" == log.history()[0].path


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE attempt SET number = 902",
        "UPDATE ending SET status = 'accepted'",
        "UPDATE hint_seen SET hint = 2",
        "DELETE FROM attempt",
        "DELETE FROM ending",
        "DELETE FROM hint_seen",
        "INSERT OR REPLACE INTO attempt VALUES (1, 902, 'x', 'x', 'x', 'x')",
        "INSERT OR REPLACE INTO ending VALUES (1, 'accepted', 1, 1, '{}', 'x')",
        "REPLACE INTO hint_seen VALUES (1, 902, 1, 'x')",
    ],
)
def test_no_row_is_changed_deleted_or_replaced(log: AttemptLog, statement: str) -> None:
    """The file itself refuses, whoever asks."""
    log.finish(begin(log), "wrong", VERDICT)
    log.see_hints(901, [1])
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        change(log, statement)
    assert ("wrong", 901) == (log.history()[0].status, log.history()[0].number)


def test_a_second_ending_is_refused(log: AttemptLog) -> None:
    """The first verdict of an attempt stays."""
    attempt = begin(log)
    log.finish(attempt, "wrong", VERDICT)
    with pytest.raises(JudgeFault, match="append-only"):
        log.finish(attempt, "accepted", VERDICT)
    assert "wrong" == log.history()[0].status


def test_an_ending_without_an_attempt_is_refused(log: AttemptLog) -> None:
    """Nothing ends that was not begun."""
    begin(log)
    with pytest.raises(JudgeFault, match="FOREIGN KEY"):
        log.finish(7, "accepted", VERDICT)


def test_a_newer_schema_is_refused_and_left_alone(log: AttemptLog) -> None:
    """An old judge neither reads nor writes what a newer one has written."""
    begin(log)
    change(log, "PRAGMA user_version = 2")
    before = log.path.read_bytes()
    with pytest.raises(JudgeFault, match=r"newer Tacit \(schema 2; this one knows 1\)") as caught:
        begin(log)
    assert str(log.path) == caught.value.place
    with pytest.raises(JudgeFault, match="Update Tacit"):
        log.history()
    assert before == log.path.read_bytes()


def test_a_database_of_another_program_is_refused(log: AttemptLog) -> None:
    """No tables are added to a stranger's file."""
    log.path.parent.mkdir()
    change(log, "CREATE TABLE song (title TEXT)")
    with pytest.raises(JudgeFault, match="not an attempt store"):
        begin(log)


@pytest.mark.parametrize("damage", ["no database", "half a page"])
def test_a_damaged_file_is_named_and_left_alone(log: AttemptLog, damage: str) -> None:
    """The fault says which file it is and that nothing was deleted."""
    begin(log)
    content = log.path.read_bytes()
    log.path.write_bytes(b"no database at all" * 99 if damage == "no database" else content[:4096] + b"\xff" * 2000)
    before = log.path.read_bytes()
    with pytest.raises(JudgeFault, match=r"damaged .* left as it is") as caught:
        log.history()
    assert str(log.path) == caught.value.place
    assert before == log.path.read_bytes()


def test_a_folder_that_cannot_be_made_is_a_fault_with_a_remedy(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "file").touch()
    with pytest.raises(JudgeFault, match="TACIT_DATA_DIR"):
        begin(AttemptLog(tmp_path / "file" / "attempts.db"))


def test_faults_speak_the_language_of_the_log(tmp_path: Path) -> None:
    """A Chinese learner reads Chinese."""
    (tmp_path / "attempts.db").write_bytes(b"no database at all" * 99)
    with pytest.raises(JudgeFault, match="做题记录已损坏"):
        AttemptLog(tmp_path / "attempts.db", "zh").history()


def test_the_default_log_lies_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TACIT_DATA_DIR, else the platform's folder for user data."""
    monkeypatch.setenv("TACIT_DATA_DIR", str(tmp_path))
    assert tmp_path / "attempts.db" == AttemptLog.open_default().path
    monkeypatch.delenv("TACIT_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "tacit" == AttemptLog.open_default().path.parent.name
