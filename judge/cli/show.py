"""``show``: a problem's statement."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from judge.cli import outlet
from judge.cli.command import Command
from judge.cli.completion import make_problem_argument
from judge.cli.session import Session
from judge.report.inert import plain

if TYPE_CHECKING:
    from rich.console import Console

_FIGURE = re.compile(r"!\[(?P<title>[^\]\n]*)\]\((?P<path>[^)\n]+)\)")


def make_show(session: Session) -> Command:
    """Return the command ``show``."""
    return Command("show", session, show, [make_problem_argument(session)])


def show(session: Session, key: str) -> int:
    """Print the statement: drawn on a terminal, as it was written elsewhere."""
    from judge.catalog.pages import statement

    problem = session.find(key)
    text = statement(problem, session.language)
    if not outlet.is_terminal(sys.stdout):
        outlet.write(text.rstrip("\n"))
        return 0
    outlet.draw(lambda console: draw_markdown(console, text))
    outlet.write("\n" + session.say("cli.judge_it", command=f"{session.call} {problem.number}"))
    return 0


def draw_markdown(console: Console, text: str) -> None:
    """Draw Markdown of a problem's author in the width of a book's page; a figure is named by its path."""
    from rich.markdown import Markdown

    named = _FIGURE.sub(lambda match: f"{match['title']}: `{match['path']}`", plain(text))
    console.print(Markdown(named, code_theme="ansi_dark"), width=min(console.width, 100))
