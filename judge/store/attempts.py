"""The log of attempts: one begins before anything runs and ends with a verdict, or never does.

Standard library only, because ``list`` reads it. One SQLite file; every method opens it anew and
leaves nothing open, so that no lock outlives a call and a killed judge leaves a whole file behind.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judge.errors import JudgeFault
from judge.locale import Language, say
from judge.locale.paths import show_path
from judge.locale.refusals import explain_refusal
from judge.store.schema import SCHEMA_VERSION, ForeignFile, create_schema, has_schema

BUSY_TIMEOUT_S = 5.0
"""How long a judge waits for another one to finish writing."""
FILE_NAME = "attempts.db"


@dataclass(frozen=True)
class Attempt:
    """One judgement that was begun."""

    id: int
    number: int
    slug: str
    path: str
    """The submission, as it was named."""
    sha256: str
    """Of the submission's bytes."""
    started_at: datetime
    status: str | None = None
    """A :class:`judge.models.status.Status`; none where the judge was interrupted before the verdict."""
    total: float | None = None
    """Points of the verdict, 0 to 1; none when nothing was judged."""
    wall_s: float | None = None
    """Duration of the judgement; none where it was interrupted."""


class AttemptLog:
    """An append-only store of attempts.

    A missing file is an empty log; it is created by the first attempt. Every method raises
    :class:`JudgeFault`, with the file and a remedy, when the file can't be read or written, is damaged,
    or has a newer schema. The file is never deleted or moved.

    Args:
        path: the SQLite file.
        language: of the faults' texts.
    """

    def __init__(self, path: Path, language: Language = "en") -> None:
        self.path = path
        self._language = language

    @classmethod
    def open_default(cls, language: Language = "en") -> AttemptLog:
        """Return the user's log: in ``TACIT_DATA_DIR``, else in the platform's folder for user data."""
        folder = os.environ.get("TACIT_DATA_DIR")
        if not folder:
            from platformdirs import user_data_dir  # 10 ms that tests and containers need not pay

            folder = user_data_dir("tacit", appauthor=False)
        return cls(Path(folder) / FILE_NAME, language)

    def begin(self, number: int, slug: str, path: str, sha256: str) -> int:
        """Record that an attempt begins, and return its id; it is on disk when this returns."""
        row = (number, slug, _storable(path), sha256, _now())
        return self._append("INSERT INTO attempt (number, slug, path, sha256, started_at) VALUES (?, ?, ?, ?, ?)", row)

    def finish(self, attempt: int, status: str, verdict_json: str) -> None:
        """Record how an attempt ended; a second ending of the same attempt is refused."""
        verdict = json.loads(verdict_json)
        row = (attempt, str(status), verdict.get("total"), verdict.get("wall_s"), _storable(verdict_json), _now())
        self._append(
            "INSERT INTO ending (attempt, status, total, wall_s, verdict, ended_at) VALUES (?, ?, ?, ?, ?, ?)", row
        )

    def history(self, number: int | None = None, limit: int = 20) -> tuple[Attempt, ...]:
        """Return the last attempts, newest first: of one problem, or of all."""
        rows = self._read(
            "SELECT id, number, slug, path, sha256, started_at, status, total, wall_s"
            " FROM attempt LEFT JOIN ending ON ending.attempt = attempt.id"
            " WHERE ? IS NULL OR number = ? ORDER BY id DESC LIMIT ?",
            (number, number, limit),
        )
        with self._explained():
            return tuple(map(_read_attempt, rows))

    def solved(self) -> frozenset[int]:
        """Return the numbers of the problems that were accepted at least once."""
        rows = self._read(
            "SELECT DISTINCT number FROM attempt JOIN ending ON ending.attempt = attempt.id WHERE status = 'accepted'"
        )
        return frozenset(row[0] for row in rows)

    def see_hints(self, number: int, hints: Iterable[int]) -> None:
        """Record that some hints of a problem, counted from 1, were shown."""
        for hint in hints:
            self._append("INSERT INTO hint_seen (number, hint, seen_at) VALUES (?, ?, ?)", (number, hint, _now()))

    def hints_seen(self, number: int) -> frozenset[int]:
        """Return which hints of a problem were shown, counted from 1."""
        return frozenset(row[0] for row in self._read("SELECT hint FROM hint_seen WHERE number = ?", (number,)))

    def _append(self, statement: str, row: tuple[object, ...]) -> int:
        with self._explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._connected() as connection:
                if not has_schema(connection):
                    create_schema(connection)
                # Autocommit: the row is on disk, or it was not added.
                return connection.execute(statement, row).lastrowid or 0

    def _read(self, query: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._explained():
            if not self.path.exists():
                return []
            with self._connected() as connection:
                return connection.execute(query, values).fetchall() if has_schema(connection) else []

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the file system and SQLite raise into faults that say what to do."""
        try:
            yield
        except ForeignFile as fault:
            name = "newer" if fault.version > SCHEMA_VERSION else "foreign"
            raise self._fault(name, version=fault.version, known=SCHEMA_VERSION) from fault
        except sqlite3.OperationalError as fault:
            name = "locked" if "locked" in str(fault) else "unusable"
            raise self._fault(name, detail=explain_refusal(fault, self._language)) from fault
        except sqlite3.IntegrityError as fault:
            raise self._fault("refused", detail=fault) from fault
        except (sqlite3.DatabaseError, TypeError, ValueError) as fault:
            raise self._fault("damaged", detail=fault) from fault
        except OSError as fault:
            raise self._fault("unusable", detail=explain_refusal(fault, self._language)) from fault

    def _fault(self, name: str, **values: object) -> JudgeFault:
        what = say(f"store.{name}", self._language, **values)
        return JudgeFault(what, place=show_path(self.path), remedy=say(f"store.{name}_remedy", self._language))


def _read_attempt(row: tuple[Any, ...]) -> Attempt:
    row_id, number, slug, path, sha256, started_at, *ending = row
    return Attempt(row_id, number, slug, path, sha256, datetime.fromisoformat(started_at), *ending)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _storable(text: str) -> str:
    """Return the text without lone surrogates, which SQLite can't hold; file names may have them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
