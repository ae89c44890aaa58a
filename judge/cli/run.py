"""``run``, the default command: judge a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from judge.cli import outlet, practice
from judge.cli.command import Command
from judge.cli.completion import make_problem_argument
from judge.cli.progress import open_live_line
from judge.cli.session import Session
from judge.cli.start import choose_file, make_file_argument
from judge.errors import JudgeFault, UsageError
from judge.locale.paths import show_path
from judge.models.status import Status

if TYPE_CHECKING:
    from judge.models.conditions import DeviceChoice
    from judge.models.problem import Problem
    from judge.models.submission import Submission
    from judge.models.verdict import Verdict
    from judge.runner.nursery import Process

MAX_SEED = (1 << 63) - 1
"""Largest seed that torch takes as it is."""


@dataclass(frozen=True)
class Options:
    """How to run and what to write."""

    json: bool
    """Write the verdict as JSON, and nothing else, to standard output."""
    junit: Path | None
    device: Literal["auto", "cpu", "cuda", "sim"]
    seed: int | None
    verbose: bool


def make_run(session: Session) -> Command:
    """Return the command ``run``."""
    params = [
        make_problem_argument(session),
        make_file_argument(session),
        click.Option(["--json"], is_flag=True, help=session.say("cli.option_json")),
        click.Option(
            ["--junit"],
            type=click.Path(path_type=Path),
            metavar=session.say("cli.file_metavar"),
            help=session.say("cli.option_junit"),
        ),
        click.Option(
            ["--device"],
            type=click.Choice(["auto", "cpu", "cuda", "sim"]),
            default="auto",
            help=session.say("cli.option_device"),
        ),
        click.Option(["--seed"], type=click.IntRange(0, MAX_SEED), metavar="N", help=session.say("cli.option_seed")),
        click.Option(["-v", "--verbose"], is_flag=True, help=session.say("cli.option_verbose")),
    ]
    return Command("run", session, run, params)


def run(session: Session, key: str, file: Path | None, **options: object) -> int:
    """Judge a file, or the practice file, which is created when it is not there yet."""
    return judge(session, key, file, Options(**options))  # type: ignore[arg-type]  # click gives what make_run declares


def judge(session: Session, key: str, file: Path | None, options: Options) -> int:
    """Judge, record the attempt, report, and return the exit status of the verdict."""
    _check_junit(options.junit, session)
    from judge.runner.nursery import open_nursery

    # The children's interpreters load while the judge loads its own models and reads the problem.
    with open_nursery() as processes:
        problem = session.find(key)
        from judge.devices.choice import choose

        device = choose(problem, options.device)
        path = _find_file(problem, choose_file(key, file), options, session)
        from judge.runner.submission import freeze

        verdict = _settle(problem, freeze(path), device, options, session, processes)
    if options.junit is not None:
        _write_junit(verdict, options.junit, session)
    if options.json:
        from judge.report.as_json import dumps

        outlet.write(dumps(verdict).rstrip("\n"))
    else:
        from judge.report.terminal import render

        reader: dict[str, Any] = {"verbose": options.verbose, "call": session.call, "here": Path.cwd()}
        outlet.draw(lambda console: render(verdict, console, session.language, **reader))
    return verdict.status.exit_code


def _find_file(problem: Problem, named: Path | None, options: Options, session: Session) -> Path:
    if named is not None:
        practice.check_exists(problem, named, session)
        return named
    home = practice.find_home(problem, session)
    if not os.path.lexists(home):
        practice.create(problem, home, session)
        say = outlet.tell if options.json else outlet.write
        say(session.say("cli.created", path=show_path(home)))
    return home


def _settle(
    problem: Problem,
    submission: Submission,
    device: DeviceChoice,
    options: Options,
    session: Session,
    processes: Sequence[Process],
) -> Verdict:
    """Run the submission and return the verdict; the attempt is on record before anything runs."""
    from judge.runner.pair import run_pair

    path, digest = submission.shown_path, submission.sha256
    attempt = session.ask_store(lambda log: log.begin(problem.number, problem.slug, path, digest), None)
    try:
        with open_live_line(is_wanted=not options.json) as show:
            on_progress = _make_progress(show, session) if show else None
            pair = run_pair(
                problem,
                submission,
                device=device,
                seed=options.seed,
                on_progress=on_progress,
                processes=processes,
                meanwhile=_load_the_rest,
            )
        from judge.report.as_json import dumps
        from judge.verdict import settle

        verdict = settle(problem, submission, pair)
    except Exception:
        # Ours, not the learner's; an interrupt passes, and leaves the attempt without an end.
        _end(attempt, Status.JUDGE_ERROR, "{}", session)
        raise
    _end(attempt, verdict.status, dumps(verdict), session)
    return verdict


def _load_the_rest() -> None:
    """Import what is needed once the runs have ended, while they go on."""
    import rich.console  # noqa: F401

    import judge.report.as_json
    import judge.report.terminal
    import judge.verdict  # noqa: F401


def _make_progress(show: Callable[[str], None], session: Session) -> Callable[[int, int, str | None], None]:
    """Return what the runner calls: it shows how many tests are done, and which one runs."""

    def tell(finished: int, total: int, running: str | None) -> None:
        test = (running or "").rpartition("::")[2]
        if total:
            show(session.say("cli.progress", finished=finished, total=total, test=test))
        else:
            show(session.say("cli.progress_loading"))

    return tell


def _end(attempt: int | None, status: Status, verdict_json: str, session: Session) -> None:
    """Record how the attempt ended; a store that can't be written takes nothing from the verdict."""
    if attempt is not None:
        session.ask_store(lambda log: log.finish(attempt, status, verdict_json), None)


def _check_junit(path: Path | None, session: Session) -> None:
    """Refuse a place that can't be written before a minute of judging, not after it."""
    if path is not None and (path.is_dir() or not os.access(path.parent, os.W_OK)):
        raise UsageError(session.say("cli.no_junit", path=show_path(path)), remedy=session.say("cli.no_junit_remedy"))


def _write_junit(verdict: Verdict, path: Path, session: Session) -> None:
    from judge.report.junit import dumps

    try:
        path.write_text(dumps(verdict, session.language), encoding="utf-8")
    except OSError as fault:
        raise JudgeFault(session.say("cli.junit_lost", path=show_path(path), detail=session.explain(fault))) from fault
