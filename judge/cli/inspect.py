"""``inspect``: run any script under the instruments and show what it makes the device do."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from judge.cli import outlet
from judge.cli.command import Command
from judge.cli.session import Session
from judge.errors import JudgeFault, UsageError

if TYPE_CHECKING:
    from judge.inspection.process import Ran
    from judge.instruments.observation import Observation
    from judge.models.inspection import Inspection

CONDITIONS = ("syncs", "races")
OUTPUTS = ("json", "trace", "snapshot")
STANDARD_OUTPUT = "-"
INTERRUPTED = 130


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
        click.Option(["--fail-on"], metavar="syncs,races", help=session.say("inspection.option_fail_on")),
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
    outputs = {
        name: _check_output(session, value)
        for name in OUTPUTS
        if (value := getattr(options, name)) not in (None, STANDARD_OUTPUT if name == "json" else None)
    }
    from judge.devices.choice import choose_for_script
    from judge.inspection.process import run_script
    from judge.inspection.summary import find_error, sum_up

    device = choose_for_script(options.device).kind
    ran = run_script(str(file), arguments, device=device, wants_snapshot="snapshot" in outputs)
    _refuse_faults(session, ran)
    seen = ran.reader.build(device)
    error = find_error(ran)
    found = sum_up(seen, error)
    _write_outputs(session, outputs, seen, found, ran)
    if options.json == STANDARD_OUTPUT:
        from judge.report.as_json import dumps

        outlet.write(dumps(found).rstrip("\n"))
    else:
        from judge.report.inspection import render

        is_whole = ran.reader.is_whole
        outlet.draw(lambda console: render(seen, error, console, session.language, script=str(file), is_whole=is_whole))
    if error is not None:
        return INTERRUPTED if error.kind == "interrupted" else 1
    return int(any(getattr(found, condition) for condition in conditions))


def _read_conditions(session: Session, given: str | None) -> list[str]:
    """Return the conditions of ``--fail-on``.

    Raises:
        UsageError: a word is none of them.
    """
    words = [word.strip() for word in (given or "").split(",") if word.strip()]
    for word in words:
        if word not in CONDITIONS:
            raise UsageError(
                session.say("inspection.bad_fail_on", word=word), remedy=session.say("inspection.bad_fail_on_remedy")
            )
    return words


def _check_script(session: Session, file: Path) -> None:
    """Refuse what is no readable file.

    Raises:
        UsageError: it is not.
    """
    if not os.path.lexists(file):
        raise UsageError(session.say("inspection.no_script", file=file))
    if not file.is_file():
        raise UsageError(session.say("inspection.no_file_at_all", file=file))
    try:
        file.open("rb").close()
    except OSError as fault:
        raise UsageError(session.say("inspection.unreadable", file=file, detail=fault.strerror)) from fault


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


def _write_outputs(session: Session, outputs: dict[str, Path], seen: Observation, found: Inspection, ran: Ran) -> None:
    from judge.report.as_json import dumps
    from judge.report.chrome_trace import dump_trace

    makers: dict[str, Callable[[], bytes]] = {
        "json": lambda: dumps(found).encode("ascii"),
        "trace": lambda: dump_trace(seen).encode("ascii"),
    }
    if ran.reader.snapshot is not None:
        snapshot = ran.reader.snapshot
        makers["snapshot"] = lambda: snapshot
    for name, path in outputs.items():
        if name not in makers:
            outlet.tell(session.say("cli.warning", what=session.say("inspection.no_snapshot")))
            continue
        try:
            path.write_bytes(makers[name]())
        except OSError as fault:
            raise JudgeFault(session.say("inspection.output_lost", path=path, detail=fault.strerror)) from fault
