"""What is said when the judge is called without a word: what to type next."""

from __future__ import annotations

from judge.cli import outlet
from judge.cli.layout import align
from judge.cli.session import Session


def welcome(session: Session) -> int:
    """Print a few commands to go on with, for the first unsolved problem."""
    from judge.catalog.listing import read_rows

    rows = read_rows(session.packs).rows
    solved = session.ask_store(lambda log: log.solved(), frozenset[int]())
    outlet.write(session.say("cli.welcome"))
    following = next((row for row in rows if row.number not in solved), rows[0] if rows else None)
    number = str(following.number) if following is not None else "N"
    if rows:
        outlet.write(session.say("cli.solved_count", done=len(solved & {row.number for row in rows}), count=len(rows)))
    outlet.write("")
    if following is not None and following.number in solved:
        outlet.write(session.say("cli.welcome_again", number=number, title=following.title[session.language]))
    elif following is not None:
        outlet.write(session.say("cli.welcome_next", number=number, title=following.title[session.language]))
    steps = (
        (f"show {number}", session.say("cli.step_show")),
        (number, session.say("cli.step_run")),
        (f"hint {number}", session.say("cli.step_hint")),
        ("list", session.say("cli.step_list")),
        ("--help", session.say("cli.step_help")),
    )
    for line in align([(f"  {session.call} {command}", text) for command, text in steps]):
        outlet.write(line)
    return 0
