"""``solution``: the explanation and the reference, for who has solved the problem or asks twice."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from judge.cli import outlet
from judge.cli.command import Command
from judge.cli.completion import make_problem_argument
from judge.cli.session import Session
from judge.cli.show import draw_markdown
from judge.errors import UsageError
from judge.report.inert import plain

if TYPE_CHECKING:
    from rich.console import Console

    from judge.models.problem import Problem

YES = ("y", "yes", "是", "好")


def make_solution(session: Session) -> Command:
    """Return the command ``solution``."""
    consent = click.Option(["-y", "--yes", "is_sure"], is_flag=True, help=session.say("cli.option_yes"))
    return Command("solution", session, solution, [make_problem_argument(session), consent])


def solution(session: Session, key: str, is_sure: bool) -> int:
    """Print how the problem is solved, and why so."""
    problem = session.find(key)
    is_solved = is_sure or problem.number in session.ask_store(lambda log: log.solved(), frozenset[int]())
    if not is_solved and not _ask(problem, session):
        outlet.write(_say_other_help(problem, session))
        return 0
    from judge.catalog.pages import explanation

    text = explanation(problem, session.language)
    code = problem.reference.read_text(encoding="utf-8")
    if outlet.is_terminal(sys.stdout):
        outlet.draw(lambda console: _draw(console, text, code), is_paged=True)
    else:
        outlet.write(f"{text.rstrip()}\n\n```python\n{code.rstrip()}\n```")
    return 0


def _ask(problem: Problem, session: Session) -> bool:
    """Return whether the user wants to see the solution of an unsolved problem.

    Raises:
        UsageError: nobody is there to ask.
    """
    if not (outlet.is_terminal(sys.stdin) and outlet.is_terminal(sys.stdout)):
        raise UsageError(
            session.say("cli.unsolved", number=problem.number),
            remedy=session.say("cli.unsolved_remedy", program=session.call, number=problem.number),
        )
    try:
        answer = input(session.say("cli.unsolved", number=problem.number) + " " + session.say("cli.show_anyway"))
    except EOFError:
        outlet.write("")
        return False
    return answer.strip().casefold() in YES


def _say_other_help(problem: Problem, session: Session) -> str:
    """Return what may help instead: a hint, or, when all were shown, the statement."""
    from judge.catalog.hints import read_hints

    seen = session.ask_store(lambda log: log.hints_seen(problem.number), frozenset[int]())
    has_more = len(seen) < len(read_hints(problem))
    return session.say(
        "cli.not_shown" if has_more else "cli.not_shown_all_seen", program=session.call, number=problem.number
    )


def _draw(console: Console, text: str, code: str) -> None:
    from rich.syntax import Syntax

    draw_markdown(console, text)
    console.print()
    console.print(Syntax(plain(code), "python", theme="ansi_dark", word_wrap=True))
