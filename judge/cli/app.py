"""All commands, gathered."""

from __future__ import annotations

from judge.cli.check import make_check
from judge.cli.completion import make_completion
from judge.cli.group import Top
from judge.cli.hint import make_hint
from judge.cli.history import make_history
from judge.cli.listing import make_list
from judge.cli.new import make_new
from judge.cli.run import make_run
from judge.cli.session import Session
from judge.cli.show import make_show
from judge.cli.solution import make_solution
from judge.cli.start import make_reset, make_start


def build_app(session: Session) -> Top:
    """Return the command line, all its texts in the session's language."""
    learner = (make_list, make_show, make_start, make_run, make_hint, make_solution, make_reset, make_history)
    return Top(
        session,
        [make(session) for make in (*learner, make_completion)],
        [make(session) for make in (make_check, make_new)],
    )
