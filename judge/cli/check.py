"""``check``: do problems keep the rules?"""

from __future__ import annotations

import click

from judge.cli.command import Command
from judge.cli.completion import complete_problem
from judge.cli.session import Session


def make_check(session: Session) -> Command:
    """Return the command ``check``."""
    keys = click.Argument(
        ["keys"], nargs=-1, metavar=f"[{session.say('cli.problem_metavar')}]...", shell_complete=complete_problem
    )
    return Command("check", session, check, [keys])


def check(session: Session, keys: tuple[str, ...]) -> int:
    """Check the named problems, or all."""
    raise NotImplementedError
