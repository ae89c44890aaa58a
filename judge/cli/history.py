"""``history``: the attempts so far."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from judge.cli import outlet
from judge.cli.command import Command
from judge.cli.completion import make_problem_argument
from judge.cli.layout import align
from judge.cli.session import Session

if TYPE_CHECKING:
    from judge.store.attempts import Attempt

ROUNDING = 1e-9
"""Points are rounded down, as in the report: 100 means all of them. This much is the arithmetic's."""


def make_history(session: Session) -> Command:
    """Return the command ``history``."""
    params = [
        make_problem_argument(session, is_required=False),
        click.Option(
            ["-n", "--limit"],
            type=click.IntRange(1, 1_000_000),
            default=20,
            metavar="N",
            help=session.say("cli.option_limit"),
        ),
    ]
    return Command("history", session, history, params)


def history(session: Session, key: str | None, limit: int) -> int:
    """Print a table of the last attempts, newest first."""
    attempts = session.attempts.history(_find_number(key, session), limit)
    if not attempts and key is not None:
        session.find(key)
    if not attempts:
        outlet.write(session.say("cli.no_attempts", program=session.call))
        return 0
    columns = ("time", "problem", "status", "points", "duration")
    header = tuple(session.say(f"cli.column_{name}") for name in columns)
    for line in align([header, *(_describe(attempt, session) for attempt in attempts)]):
        outlet.write(line)
    return 0


def _find_number(key: str | None, session: Session) -> int | None:
    """Return the number that was asked for; a problem that is gone still has its attempts."""
    if key is None or key.isdecimal():
        return int(key) if key else None
    return session.find(key).number


def _describe(attempt: Attempt, session: Session) -> tuple[str, ...]:
    status = session.say(f"cli.status_{attempt.status}" if attempt.status else "cli.status_interrupted")
    return (
        attempt.started_at.astimezone().strftime("%Y-%m-%d %H:%M:%S"),
        f"{attempt.number}_{attempt.slug}",
        status,
        "-" if attempt.total is None else str(math.floor(attempt.total * 100 + ROUNDING)),
        "-" if attempt.wall_s is None else f"{attempt.wall_s:.1f} s",
    )
