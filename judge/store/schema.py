"""Tables of the attempt store, and how a file becomes one.

Rows are only ever added: triggers refuse UPDATE and DELETE, and an INSERT that would replace a row.
"""

from __future__ import annotations

import sqlite3

SCHEMA_VERSION = 1

_TABLES = """
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    number INTEGER NOT NULL,
    slug TEXT NOT NULL,
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    started_at TEXT NOT NULL
);
CREATE INDEX attempt_by_number ON attempt (number, id);
CREATE TABLE ending (
    attempt INTEGER PRIMARY KEY REFERENCES attempt (id),
    status TEXT NOT NULL,
    total REAL,
    wall_s REAL,
    verdict TEXT NOT NULL,
    ended_at TEXT NOT NULL
);
CREATE TABLE hint_seen (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    number INTEGER NOT NULL,
    hint INTEGER NOT NULL,
    seen_at TEXT NOT NULL
);
"""

_GUARDS = """
CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table}
    BEGIN SELECT RAISE(ABORT, 'append-only: no row of {table} is ever changed'); END;
CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}
    BEGIN SELECT RAISE(ABORT, 'append-only: no row of {table} is ever deleted'); END;
CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}
    WHEN EXISTS (SELECT 1 FROM {table} WHERE {key} = NEW.{key})
    BEGIN SELECT RAISE(ABORT, 'append-only: this row of {table} exists'); END;
"""

_KEYS = {"attempt": "id", "ending": "attempt", "hint_seen": "id"}


class ForeignFile(Exception):
    """The file is a database, and not an attempt store that this judge can read.

    Args:
        version: of its schema; 0 for a database of another program.
    """

    def __init__(self, version: int) -> None:
        super().__init__(f"schema version {version}")
        self.version = version


def has_schema(connection: sqlite3.Connection) -> bool:
    """Return whether the tables are there; an empty database has none yet.

    Raises:
        ForeignFile: the schema is newer than this judge, or the tables are another program's.
    """
    # One statement, one snapshot: between two, another judge may create the tables.
    query = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
    version, tables = connection.execute(query).fetchone()
    if version == SCHEMA_VERSION:
        return True
    if version != 0 or tables:
        raise ForeignFile(version)
    return False


def create_schema(connection: sqlite3.Connection) -> None:
    """Make the tables, unless another judge was faster; all of them or none.

    Raises:
        ForeignFile: as for :func:`has_schema`.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not has_schema(connection):
            guards = "".join(_GUARDS.format(table=table, key=key) for table, key in _KEYS.items())
            for statement in _split_statements(_TABLES + guards):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _split_statements(script: str) -> list[str]:
    """Cut a script into statements: ``executescript`` would commit what it finds open."""
    statements, part = [], ""
    for line in script.splitlines(keepends=True):
        part += line
        if sqlite3.complete_statement(part):
            statements.append(part)
            part = ""
    return statements
