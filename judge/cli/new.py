"""``new``: the files of a new problem."""

from __future__ import annotations

import click

from judge.cli import outlet
from judge.cli.command import Command
from judge.cli.session import Session
from judge.errors import UsageError
from judge.locale.paths import show_path

MAX_NUMBER = 99_999


def make_new(session: Session) -> Command:
    """Return the command ``new``."""
    params = [
        click.Argument(["number"], type=click.IntRange(1, MAX_NUMBER), metavar="N"),
        click.Argument(["slug"], metavar=session.say("cli.slug_metavar")),
    ]
    return Command("new", session, new, params)


def new(session: Session, number: int, slug: str) -> int:
    """Create the files of a new problem in the pack that was named last, else in the repository."""
    from judge.author.new import create_problem
    from judge.catalog.places import repository_root

    root = session.packs[-1].absolute() if session.packs else repository_root()
    if root is None:
        raise UsageError(session.say("cli.new_nowhere"), remedy=session.say("cli.new_nowhere_remedy"))
    folder = create_problem(number, slug, root)
    reference = root / "reference" / folder.name
    outlet.write(session.say("cli.new_created", folder=show_path(folder), reference=show_path(reference)))
    outlet.write(session.say("cli.new_next", program=session.call, number=number))
    return 0
