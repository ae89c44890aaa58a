"""``list``: all problems, which are solved, and which are broken."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from judge.cli import outlet
from judge.cli.command import Command
from judge.cli.layout import align
from judge.cli.session import Session
from judge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge.catalog.listing import Row

SOLVED = "✓"
TOPICS = ("memory", "asynchrony", "streams", "graphs", "tensors", "dtypes", "profiling", "distributed")
"""Topics that have a name in each language; a pack may have others."""


def make_list(session: Session) -> Command:
    """Return the command ``list``."""
    topic = click.Option(["--topic"], metavar=session.say("cli.topic_metavar"), help=session.say("cli.option_topic"))
    unsolved = click.Option(["--unsolved", "is_unsolved"], is_flag=True, help=session.say("cli.option_unsolved"))
    return Command("list", session, list_problems, [topic, unsolved])


def list_problems(session: Session, topic: str | None, is_unsolved: bool) -> int:
    """Print the problems by number, then what is wrong with broken ones."""
    from judge.catalog.listing import read_rows

    listing = read_rows(session.packs)
    solved = session.ask_store(lambda log: log.solved(), frozenset[int]())
    rows = _choose(listing.rows, topic, session)
    rows = [row for row in rows if not (is_unsolved and row.number in solved)]
    if rows:
        header = ("", *(session.say(f"cli.column_{name}") for name in ("number", "title", "topic", "difficulty")))
        for line in align([header, *(_describe(row, solved, session) for row in rows)]):
            outlet.write(line)
    done = len(solved & {row.number for row in listing.rows})
    outlet.write(("\n" if rows else "") + session.say("cli.solved_count", done=done, count=len(listing.rows)))
    if listing.faults:
        outlet.write("\n" + session.say("cli.broken", count=len(listing.faults)))
        for fault in listing.faults:
            outlet.write(f"  {session.describe(fault)}")
    return 0


def _choose(rows: Sequence[Row], topic: str | None, session: Session) -> Sequence[Row]:
    """Return the rows of a topic, which may be given as the list shows it or as a manifest writes it.

    Raises:
        UsageError: no problem has this topic.
    """
    if topic is None:
        return rows
    chosen = [row for row in rows if topic in (row.topic, _name_topic(row.topic, session))]
    if not chosen:
        topics = session.say("cli.comma").join(sorted({_name_topic(row.topic, session) for row in rows}))
        raise UsageError(session.say("cli.no_topic", topic=topic, topics=topics))
    return chosen


def _name_topic(topic: str, session: Session) -> str:
    return session.say(f"topics.{topic}") if topic in TOPICS else topic


def _describe(row: Row, solved: frozenset[int], session: Session) -> tuple[str, ...]:
    return (
        _mark() if row.number in solved else " ",
        str(row.number),
        row.title[session.language],
        _name_topic(row.topic, session),
        f"{row.difficulty}/5",
    )


def _mark() -> str:
    """Return a check mark, or an asterisk where the terminal's encoding has none."""
    try:
        SOLVED.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return "*"
    return SOLVED
