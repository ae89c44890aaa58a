"""``new``: the files of a new problem."""

from __future__ import annotations

import click

from judge.cli.command import Command
from judge.cli.session import Session


def make_new(session: Session) -> Command:
    """Return the command ``new``."""
    params = [
        click.Argument(["number"], type=click.IntRange(1, 99_999), metavar="N"),
        click.Argument(["slug"], metavar=session.say("cli.slug_metavar")),
    ]
    return Command("new", session, new, params)


def new(session: Session, number: int, slug: str) -> int:
    """Create the files of a new problem."""
    raise NotImplementedError
