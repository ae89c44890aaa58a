"""``completion``: let the shell complete commands and problems."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from judge.cli import outlet
from judge.cli.app import VARIABLE
from judge.cli.command import Command
from judge.cli.session import Session

PROGRAM = "judge"
"""Shells complete by the name of a program on the PATH; a script behind ``python`` is out of their sight."""
START_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}
COMMANDS = {
    "bash": 'eval "$(judge completion bash)"',
    "zsh": 'eval "$(judge completion zsh)"',
    "fish": "judge completion fish | source",
}


def make_completion(session: Session) -> Command:
    """Return the command ``completion``."""
    shell = click.Argument(
        ["shell"],
        type=click.Choice(list(START_FILES)),
        required=False,
        metavar=f"[{session.say('cli.shell_metavar')}]",
    )
    return Command("completion", session, complete, [shell])


def complete(session: Session, shell: str | None) -> int:
    """Print the script of a shell, or, without one, how to install it."""
    if shell is None:
        known = Path(os.environ.get("SHELL", "")).name
        for name in [known] if known in COMMANDS else COMMANDS:
            outlet.write(session.say("cli.completion_install", shell=name, file=START_FILES[name]))
            outlet.write(f"    {COMMANDS[name]}")
        outlet.write(session.say("cli.completion_reach", program=PROGRAM))
        return 0
    make = get_completion_class(shell)
    assert make is not None  # click knows all three
    outlet.write(make(click.get_current_context().find_root().command, {}, PROGRAM, VARIABLE).source())
    return 0


def make_problem_argument(session: Session, *, is_required: bool = True) -> click.Argument:
    """Return the argument that names a problem."""
    name = session.say("cli.problem_metavar")
    return click.Argument(
        ["key"],
        required=is_required,
        metavar=name if is_required else f"[{name}]",
        shell_complete=complete_problem,
    )


def complete_problem(ctx: click.Context, _param: click.Parameter | None, incomplete: str) -> list[CompletionItem]:
    """Return the problems whose number or slug begins with what was typed; never a fault, never a word of its own."""
    from judge.catalog.listing import read_rows

    # A context made for completion only has no session where the shell asks for the first word.
    session = ctx.find_object(Session)
    packs, language = (session.packs, session.language) if session is not None else ((), "en")
    try:
        rows = read_rows(packs).rows
    except Exception:
        # Whatever is wrong with a pack, a shell in the middle of a line is no place to say so.
        return []
    words = [(word, row) for row in rows for word in (str(row.number), row.slug)]
    # Slugs are only offered once a letter was typed: each problem once is enough.
    wanted = [(word, row) for word, row in words if word.startswith(incomplete) and (incomplete or word.isdigit())]
    return [CompletionItem(word, help=row.title[language]) for word, row in wanted]
