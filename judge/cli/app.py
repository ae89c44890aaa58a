"""All commands: their names in a table, their modules imported when one is called.

``--help`` shows every command by its line in the messages alone, so that a call imports one command at most.
"""

from __future__ import annotations

from importlib import import_module

from judge.cli.command import Command
from judge.cli.group import Top
from judge.cli.session import Session

VARIABLE = "_JUDGE_COMPLETE"
"""Environment variable in which a shell asks for completion."""
LEARNER_COMMANDS = ("list", "show", "start", "run", "hint", "solution", "reset", "history", "inspect", "completion")
"""In the order in which a learner needs them."""
AUTHOR_COMMANDS = ("check", "new")
MODULES = {"list": "listing", "reset": "start"}
"""Where a module is not called like its command."""


def build_app(session: Session) -> Top:
    """Return the command line, all its texts in the session's language."""

    def load(name: str) -> Command:
        module = import_module(f"judge.cli.{MODULES.get(name, name)}")
        command: Command = getattr(module, f"make_{name}")(session)
        return command

    return Top(session, LEARNER_COMMANDS, AUTHOR_COMMANDS, load)
