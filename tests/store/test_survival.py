"""The attempt store among processes: killed ones and simultaneous ones."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from judge.store.attempts import AttemptLog

WRITE_FOR_EVER = """
import sys
from pathlib import Path
from judge.store.attempts import AttemptLog
log = AttemptLog(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    log.finish(log.begin(901, "double", "mine.py", "ab"), "wrong", '{"total": 0.5}')
"""
WRITE_TWENTY = """
import sys
from pathlib import Path
from judge.store.attempts import AttemptLog
for _ in range(20):
    log = AttemptLog(Path(sys.argv[1]))
    log.finish(log.begin(901, "double", "mine.py", "ab"), "accepted", "{}")
"""
WRITE_WITHOUT_COMMIT = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
# A cache of one page: the changes reach the file before the commit.
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
for _ in range(2000):
    connection.execute("INSERT INTO hint_seen (number, hint, seen_at) VALUES (901, 1, ?)", ("x" * 200,))
os.kill(os.getpid(), signal.SIGKILL)
"""


def check_integrity(path: Path) -> str:
    """Return SQLite's own opinion of the file."""
    connection = sqlite3.connect(path)
    try:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()


def test_a_judge_killed_at_any_moment_leaves_a_whole_log(tmp_path: Path) -> None:
    """After kill -9, the last attempt may lack its end; all others are whole, and writing goes on."""
    log = AttemptLog(tmp_path / "attempts.db")
    kills = 4
    for delay_s in range(kills):
        command = [sys.executable, "-c", WRITE_FOR_EVER, str(log.path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(0.15 + 0.017 * delay_s)
            writer.kill()
        assert "ok" == check_integrity(log.path)
    attempts = log.history(limit=10**6)
    assert len(attempts) > kills
    assert sum(attempt.status is None for attempt in attempts) <= kills
    assert attempts[0].id < log.begin(901, "double", "mine.py", "ab")


def test_what_was_not_committed_when_the_process_was_killed_is_gone(tmp_path: Path) -> None:
    """A write torn in the middle is rolled back by the next reader."""
    log = AttemptLog(tmp_path / "attempts.db")
    attempt = log.begin(901, "double", "mine.py", "ab")
    writer = subprocess.run([sys.executable, "-c", WRITE_WITHOUT_COMMIT, str(log.path)], check=False)
    assert -signal.SIGKILL == writer.returncode
    assert log.path.with_name("attempts.db-journal").exists()
    assert frozenset() == log.hints_seen(901)
    assert [attempt] == [one.id for one in log.history()]


def test_simultaneous_judges_lose_no_attempt(tmp_path: Path) -> None:
    """Four processes create the file and write to it at once."""
    path = tmp_path / "attempts.db"
    writers = [subprocess.Popen([sys.executable, "-c", WRITE_TWENTY, str(path)]) for _ in range(4)]
    assert [0, 0, 0, 0] == [writer.wait(60) for writer in writers]
    attempts = AttemptLog(path).history(limit=1000)
    assert (80, {"accepted"}) == (len(attempts), {attempt.status for attempt in attempts})
