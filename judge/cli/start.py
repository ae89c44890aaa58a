"""``start`` and ``reset``: begin a practice file, and begin it again."""

from __future__ import annotations

import os
from pathlib import Path

import click

from judge.cli import outlet, practice
from judge.cli.command import Command
from judge.cli.completion import make_problem_argument
from judge.cli.session import Session, is_path
from judge.locale.paths import quote_path, show_path


def make_start(session: Session) -> Command:
    """Return the command ``start``."""
    return Command("start", session, start, [make_problem_argument(session), make_file_argument(session)])


def make_reset(session: Session) -> Command:
    """Return the command ``reset``."""
    return Command("reset", session, reset, [make_problem_argument(session), make_file_argument(session)])


def make_file_argument(session: Session) -> click.Argument:
    """Return the argument that names a learner's file; without it, the practice file is meant."""
    file = click.Path(path_type=Path)
    return click.Argument(["file"], type=file, required=False, metavar=f"[{session.say('cli.file_metavar')}]")


def start(session: Session, key: str, file: Path | None) -> int:
    """Create the practice file from the stub, or say that it is there."""
    problem = session.find(key)
    path = choose_file(key, file) or practice.find_home(problem, session)
    if path.is_dir():
        path /= f"{problem.name}.py"
    practice.create(problem, path, session)
    outlet.write(session.say("cli.created", path=show_path(path)))
    # The practice file need not be named; another one has to be.
    rest = f" {quote_path(path)}" if file is not None or is_path(key) else ""
    outlet.write(session.say("cli.judge_it", command=f"{session.call} {problem.number}{rest}"))
    return 0


def reset(session: Session, key: str, file: Path | None) -> int:
    """Put the stub back in place; the learner's text is kept beside it."""
    problem = session.find(key)
    path = choose_file(key, file) or practice.find_home(problem, session)
    if not os.path.lexists(path):
        return start(session, key, file)
    backup = practice.start_over(problem, path, session)
    if backup is None:
        outlet.write(session.say("cli.is_stub", path=show_path(path)))
        return 0
    outlet.write(session.say("cli.kept", backup=show_path(backup)))
    outlet.write(session.say("cli.reset", path=show_path(path)))
    return 0


def choose_file(key: str, file: Path | None) -> Path | None:
    """Return the file the user named: after the problem, or in its place."""
    if file is None and is_path(key) and not Path(key).is_dir():
        return Path(key)
    return file
