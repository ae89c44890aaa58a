"""``inspect``: run any script under the instruments and show what it makes the device do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from judge.cli import outlet
from judge.cli.command import Command
from judge.cli.session import Session
from judge.errors import JudgeFault, UsageError
from judge.locale.paths import show_path

if TYPE_CHECKING:
    from judge.inspection.process import Ran
    from judge.instruments.observation import Observation
    from judge.models.inspection import Inspection
    from judge.report.closing import Outcome

OUTPUTS = ("json", "trace", "snapshot")
STANDARD_OUTPUT = "-"
INTERRUPTED, TERMINATED = 130, 143
"""As a shell tells of SIGINT and SIGTERM."""


@dataclass(frozen=True)
class Options:
    """What to run on, what to write, and when to fail."""

    device: Literal["auto", "cuda", "sim"]
    json: str | None
    trace: str | None
    snapshot: str | None
    fail_on: str | None


def make_inspect(session: Session) -> Command:
    """Return the command ``inspect``."""
    output: dict[str, Any] = {"metavar": session.say("inspection.file_metavar")}
    params: list[click.Parameter] = [
        click.Argument(["file"], metavar=session.say("inspection.file_metavar"), type=click.Path(path_type=Path)),
        click.Argument(
            ["arguments"], nargs=-1, type=click.UNPROCESSED, metavar=session.say("inspection.arguments_metavar")
        ),
        click.Option(
            ["--device"],
            type=click.Choice(["auto", "cuda", "sim"]),
            default="auto",
            help=session.say("inspection.option_device"),
        ),
        *(click.Option([f"--{name}"], help=session.say(f"inspection.option_{name}"), **output) for name in OUTPUTS),
        click.Option(["--fail-on"], metavar="syncs,step-syncs,races", help=session.say("inspection.option_fail_on")),
    ]
    command = Command("inspect", session, inspect, params)
    # What is no option of ours is the script's.
    command.context_settings["ignore_unknown_options"] = True
    return command


def inspect(session: Session, file: Path, arguments: tuple[str, ...], **options: object) -> int:
    """Run the script, write what was asked for, print the report, and return the exit status."""
    return _inspect(session, file, arguments, Options(**options))  # type: ignore[arg-type]  # click gives what make_inspect declares


def _inspect(session: Session, file: Path, arguments: tuple[str, ...], options: Options) -> int:
    conditions = _read_conditions(session, options.fail_on)
    _check_script(session, file)
    outputs = _read_outputs(session, options)
    to_stdout = next((name for name, path in outputs.items() if path is None), None)
    from judge.devices.choice import choose_for_script
    from judge.inspection.process import run_script
    from judge.inspection.strikes import find_strikes
    from judge.inspection.summary import find_error, sum_up
    from judge.report.closing import Outcome

    device = choose_for_script(options.device).kind
    ran = run_script(
        str(file), arguments, device=device, wants_snapshot="snapshot" in outputs, has_stdout=to_stdout is None
    )
    _refuse_faults(session, ran)
    seen = ran.reader.build(device)
    error = find_error(ran)
    found = sum_up(seen, error)
    written = _write_outputs(session, outputs, seen, found, ran)
    outcome = Outcome(conditions, find_strikes(found, conditions), written)
    if to_stdout is None:
        from judge.report.inspection import render

        is_whole = ran.reader.is_whole
        outlet.draw(
            lambda console: render(
                seen, error, console, session.language, script=str(file), is_whole=is_whole, outcome=outcome
            )
        )
    elif outcome.strikes:
        _tell_strikes(session, outcome)
    if error is not None and error.kind == "interrupted":
        return TERMINATED if error.type == "SIGTERM" else INTERRUPTED
    return int(error is not None or bool(outcome.strikes))


def _tell_strikes(session: Session, outcome: Outcome) -> None:
    """Say on standard error why the exit status is 1, where there is no report to say it."""
    from judge.report.closing import name_strikes
    from judge.report.ink import Ink

    outlet.tell(name_strikes(Ink(session.language, getattr(sys.stderr, "encoding", None) or "utf-8"), outcome.strikes))


def _read_conditions(session: Session, given: str | None) -> tuple[str, ...]:
    """Return the conditions of ``--fail-on``, each once.

    Raises:
        UsageError: a word is none of them.
    """
    from judge.inspection.strikes import CONDITIONS

    words = [word.strip() for word in (given or "").split(",") if word.strip()]
    for word in words:
        if word not in CONDITIONS:
            raise UsageError(
                session.say("inspection.bad_fail_on", word=word), remedy=session.say("inspection.bad_fail_on_remedy")
            )
    return tuple(dict.fromkeys(words))


def _check_script(session: Session, file: Path) -> None:
    """Refuse what is no readable file.

    Raises:
        UsageError: it is not.
    """
    if not os.path.lexists(file):
        raise UsageError(
            session.say("inspection.no_script", file=file), remedy=session.say("inspection.no_script_remedy")
        )
    if not file.is_file():
        raise UsageError(
            session.say("inspection.no_file_at_all", file=file), remedy=session.say("inspection.no_script_remedy")
        )
    try:
        file.open("rb").close()
    except OSError as fault:
        raise UsageError(session.say("inspection.unreadable", file=file, detail=session.explain(fault))) from fault


def _read_outputs(session: Session, options: Options) -> dict[str, Path | None]:
    """Return the outputs that were asked for and their paths, ``None`` for standard output.

    Raises:
        UsageError: one can't be written, or standard output can't take them.
    """
    named = {name: value for name in OUTPUTS if (value := getattr(options, name)) is not None}
    to_stdout = [name for name, value in named.items() if value == STANDARD_OUTPUT]
    if "snapshot" in to_stdout:
        raise UsageError(session.say("inspection.binary_output"), remedy=session.say("inspection.binary_output_remedy"))
    if len(to_stdout) > 1:
        raise UsageError(session.say("inspection.one_output"), remedy=session.say("inspection.one_output_remedy"))
    return {name: None if name in to_stdout else _check_output(session, value) for name, value in named.items()}


def _check_output(session: Session, name: str) -> Path:
    """Return the absolute path of an output, refused now rather than after the script has run.

    Raises:
        UsageError: it can't be written.
    """
    path = Path(name).absolute()
    is_there = path.is_file() and os.access(path, os.W_OK)
    if not is_there and (os.path.lexists(path) or not os.access(path.parent, os.W_OK)):
        raise UsageError(
            session.say("inspection.no_output", path=name), remedy=session.say("inspection.no_output_remedy")
        )
    return path


def _refuse_faults(session: Session, ran: Ran) -> None:
    """Own up to what went wrong on our side of the script's process.

    Raises:
        JudgeFault: the instruments failed, or their report can't be read.
    """
    if ran.reader.own_fault is not None:
        raise JudgeFault(session.say("inspection.child_fault", what=ran.reader.own_fault))
    if ran.reader.fault is not None:
        raise JudgeFault(session.say("inspection.records_fault", what=ran.reader.fault))


def _write_outputs(
    session: Session, outputs: dict[str, Path | None], seen: Observation, found: Inspection, ran: Ran
) -> tuple[str, ...]:
    """Write what was asked for, and return the files.

    Raises:
        JudgeFault: a file can't be written after all.
    """
    from judge.report.as_json import dumps
    from judge.report.chrome_trace import dump_trace

    makers: dict[str, Callable[[], bytes]] = {
        "json": lambda: dumps(found).encode("ascii"),
        "trace": lambda: dump_trace(seen).encode("ascii"),
    }
    if ran.reader.snapshot is not None:
        snapshot = ran.reader.snapshot
        makers["snapshot"] = lambda: snapshot
    written = []
    for name, path in outputs.items():
        if name not in makers:
            outlet.tell(session.say("cli.warning", what=session.say("inspection.no_snapshot")))
        elif path is None:
            outlet.write(makers[name]().decode("ascii").rstrip("\n"))
        else:
            _write_file(session, path, makers[name]())
            written.append(show_path(path))
    return tuple(written)


def _write_file(session: Session, path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as fault:
        what = session.say("inspection.output_lost", path=show_path(path), detail=session.explain(fault))
        raise JudgeFault(what) from fault
