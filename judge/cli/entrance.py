"""From the arguments to the exit status: every way in which a call can end is met here."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

import click

from judge.cli import outlet
from judge.cli.session import Session, name_program
from judge.errors import JudgeError
from judge.locale import choose_language
from judge.locale.paths import show_path

FAULT = 3
INTERRUPTED = 130


def enter(arguments: Sequence[str]) -> int:
    """Run one call and return its exit status.

    Raises:
        ModuleNotFoundError: a package that the command needs is not installed.
    """
    outlet.prepare()
    session = Session(choose_language(arguments), name_program())
    if sys.platform == "win32":
        outlet.tell(session.say("cli.no_windows"))
        return FAULT
    try:
        return _call(session, arguments)
    finally:
        outlet.flush()


def _call(session: Session, arguments: Sequence[str]) -> int:
    try:
        from judge.cli.app import VARIABLE, build_app

        app = build_app(session)
        status = app.main(
            list(arguments),
            prog_name=session.program,
            complete_var=VARIABLE,
            standalone_mode=False,
            obj=session,
        )
        return int(status or 0)
    except (KeyboardInterrupt, click.Abort):
        # A second Ctrl-C must not tear the line that answers the first.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        outlet.tell(session.say("cli.interrupted"))
        return INTERRUPTED
    except click.ClickException as fault:
        from judge.cli.complaints import translate

        return _report(translate(fault, session), session)
    except JudgeError as fault:
        return _report(fault, session)
    except outlet.OutputLost as fault:
        outlet.tell(session.say("cli.output_lost", detail=session.explain(fault.reason)))
        return FAULT
    except Exception as fault:
        if isinstance(fault, ModuleNotFoundError) and (fault.name or "judge").partition(".")[0] != "judge":
            raise  # a package that is not installed: main says which
        return _confess(fault, session)


def _report(fault: JudgeError, session: Session) -> int:
    """Say what the fault is, where, and what to do, on one line."""
    outlet.tell(session.say("cli.fault", what=session.describe(fault)))
    _show_traceback()
    return fault.exit_code


def _confess(fault: Exception, session: Session) -> int:
    """Own up to a fault of the judge: it never counts against the learner."""
    import traceback

    frames = traceback.extract_tb(fault.__traceback__)
    place = f"{show_path(frames[-1].filename)}:{frames[-1].lineno}" if frames else "?"
    what = " ".join(f"{type(fault).__name__}: {fault}".split())
    outlet.tell(session.say("cli.own_fault", what=what, place=place))
    if not _show_traceback():
        outlet.tell(session.say("cli.own_fault_remedy"))
    return FAULT


def _show_traceback() -> bool:
    """Show where the fault came from when ``TACIT_DEBUG=1`` asks for it."""
    is_asked = os.environ.get("TACIT_DEBUG", "0") not in ("", "0")
    if is_asked:
        import traceback

        outlet.tell(traceback.format_exc())
    return is_asked
