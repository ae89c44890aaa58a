"""``check``: do problems keep the rules?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from judge.cli import outlet
from judge.cli.command import Command
from judge.cli.completion import complete_problem
from judge.cli.progress import open_live_line
from judge.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.models.base import Text
    from judge.models.problem import Problem

MAX_WORKERS = 256


def make_check(session: Session) -> Command:
    """Return the command ``check``."""
    metavar = f"[{session.say('cli.problem_metavar')}]..."
    params = [
        click.Argument(["keys"], nargs=-1, metavar=metavar, shell_complete=complete_problem),
        click.Option(["--no-mutants"], is_flag=True, help=session.say("cli.option_no_mutants")),
        click.Option(["--quick"], is_flag=True, help=session.say("cli.option_quick")),
        click.Option(
            ["--workers"], type=click.IntRange(1, MAX_WORKERS), metavar="N", help=session.say("cli.option_workers")
        ),
        click.Option(
            ["--device"],
            type=click.Choice(["auto", "cpu", "cuda", "sim"]),
            default="auto",
            help=session.say("cli.option_device"),
        ),
        click.Option(["-v", "--verbose"], is_flag=True, help=session.say("cli.option_verbose")),
    ]
    return Command("check", session, check, params)


def check(
    session: Session,
    keys: tuple[str, ...],
    no_mutants: bool,
    quick: bool,
    workers: int | None,
    device: Literal["auto", "cpu", "cuda", "sim"],
    verbose: bool,
) -> int:
    """Check the named problems, or all, and print what is wrong with them."""
    from judge.author.check import run_check
    from judge.author.render import render_check
    from judge.catalog.packs import Catalog, discover

    if keys:
        catalog = Catalog(tuple({(one := session.find(key)).number: one for key in keys}.values()))
    else:
        catalog = discover(session.packs)
    with open_live_line() as show:
        report = run_check(
            catalog.problems,
            faults=catalog.faults,
            mutants=not no_mutants,
            quick=quick,
            workers=workers,
            device=device,
            on_progress=_make_progress(show, session) if show else _make_log(session),
        )
    outlet.draw(lambda console: render_check(report, console, session.language, verbose=verbose))
    return report.exit_code


def _make_log(session: Session) -> Callable[[Problem, Text, int, int], None]:
    """Return what writes a line as each step begins: a log has no line that could be replaced."""
    begun: set[tuple[int, str]] = set()

    def tell(problem: Problem, step: Text, _done: int, _count: int) -> None:
        if (problem.number, step.en) not in begun:
            begun.add((problem.number, step.en))
            words = step.in_language(session.language)
            outlet.tell(session.say("cli.check_step", problem=problem.name, step=words))

    return tell


def _make_progress(show: Callable[[str], None], session: Session) -> Callable[[Problem, Text, int, int], None]:
    def tell(problem: Problem, step: Text, done: int, count: int) -> None:
        words = step.in_language(session.language)
        show(session.say("cli.check_progress", problem=problem.name, step=words, done=done, count=count))

    return tell
