"""``hint``: one more hint with every call."""

from __future__ import annotations

import shutil

import click

from judge.cli import outlet
from judge.cli.command import Command
from judge.cli.completion import make_problem_argument
from judge.cli.layout import reflow
from judge.cli.session import Session
from judge.errors import UsageError


def make_hint(session: Session) -> Command:
    """Return the command ``hint``."""
    params = [
        make_problem_argument(session),
        click.Argument(["which"], type=click.INT, required=False, metavar="[N]"),
        click.Option(["--all", "is_all"], is_flag=True, help=session.say("cli.option_all_hints")),
    ]
    return Command("hint", session, hint, params)


def hint(session: Session, key: str, which: int | None, is_all: bool) -> int:
    """Show the first hint that was not shown yet, or the one that is named, or all of them."""
    from judge.catalog.hints import read_hints

    problem = session.find(key)
    texts = [text.in_language(session.language) for text in read_hints(problem)]
    if not texts:
        outlet.write(session.say("cli.no_hints", number=problem.number))
        return 0
    if which is not None and not 1 <= which <= len(texts):
        raise UsageError(session.say("cli.no_such_hint", count=len(texts), number=problem.number))
    seen = session.ask_store(lambda log: log.hints_seen(problem.number), None)
    unseen = [number for number in range(1, len(texts) + 1) if number not in (seen or ())]
    chosen = [*range(1, len(texts) + 1)] if is_all else [which or (unseen or [len(texts)])[0]]
    for number in chosen:
        if number != chosen[0]:
            outlet.write("")
        outlet.write(session.say("cli.hint", at=number, count=len(texts)))
        outlet.write(reflow(texts[number - 1], shutil.get_terminal_size().columns))
    if seen is not None:  # else the store is unusable, and that has been said
        session.ask_store(lambda log: log.see_hints(problem.number, chosen), None)
    if not is_all:
        outlet.write("\n" + _say_next(session, problem.number, set(unseen) - set(chosen), chosen[-1] == len(texts)))
    return 0


def _say_next(session: Session, number: int, left: set[int], is_last: bool) -> str:
    """Return what to do when the hint that was shown is not enough."""
    if left:
        return session.say("cli.next_hint", program=session.call, number=number)
    return session.say("cli.last_hint" if is_last else "cli.all_seen", program=session.call, number=number)
