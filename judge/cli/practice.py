"""The learner's files: where they lie, how they begin, how they start over. Nothing is ever overwritten.

What only one command needs is imported there, so that ``--help`` and ``list`` do without it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from judge.catalog.places import repository_root
from judge.cli.session import Session
from judge.errors import UsageError
from judge.locale.paths import quote_path, show_path

if TYPE_CHECKING:
    from judge.models.problem import Problem


def find_home(problem: Problem, session: Session) -> Path:
    """Return the place of a problem's practice file, whether it exists or not.

    Raises:
        UsageError: the judge is installed without its repository, so that there is no practice folder.
    """
    root = repository_root()
    if root is None:
        raise UsageError(session.say("cli.no_practice"), remedy=_say_elsewhere(problem, session))
    return root / "practice" / f"{problem.name}.py"


def create(problem: Problem, path: Path, session: Session) -> None:
    """Write a problem's stub to a new file.

    Raises:
        UsageError: something is there already, or the folder can't be written.
    """
    stub = problem.stub.read_bytes()
    try:
        with path.open("xb") as file:
            file.write(stub)
    except FileExistsError:
        raise UsageError(
            session.say("cli.exists", path=show_path(path)),
            remedy=session.say("cli.exists_remedy", program=session.call, number=problem.number, path=quote_path(path)),
        ) from None
    except FileNotFoundError:
        raise UsageError(
            session.say("cli.no_folder", folder=show_path(path.parent)),
            remedy=session.say("cli.no_folder_remedy", folder=quote_path(path.parent)),
        ) from None
    except OSError as fault:
        raise UsageError(
            session.say("cli.not_created", path=show_path(path), detail=session.explain(fault)),
            remedy=_say_elsewhere(problem, session),
        ) from fault


def start_over(problem: Problem, path: Path, session: Session) -> Path | None:
    """Put the stub in the file's place and return where the old text is kept; ``None``: it was the stub.

    Raises:
        UsageError: the file can't be read, or the folder can't be written; the file is unchanged.
    """
    # A link's target is exchanged, the link stays.
    target = path.resolve()
    try:
        old, stub = target.read_bytes(), problem.stub.read_bytes()
        if old == stub:
            return None
        backup = _keep(old, path)
        _exchange(target, stub)
    except OSError as fault:
        raise UsageError(session.say("cli.not_reset", path=show_path(path), detail=session.explain(fault))) from fault
    return backup


def check_exists(problem: Problem, path: Path, session: Session) -> None:
    """Make sure that a file named by the user is there.

    Raises:
        UsageError: it is not; the remedy names files like it, or how to create it.
    """
    if os.path.lexists(path):
        return
    import difflib

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        names = []
    near = difflib.get_close_matches(path.name, names, 3)
    create = session.say("cli.no_file_remedy", program=session.call, number=problem.number, path=quote_path(path))
    if near:
        words = ", ".join(show_path(path.parent / name) for name in near)
        create = session.say("cli.did_you_mean", words=words) + " " + create
    raise UsageError(session.say("cli.no_file", path=show_path(path)), remedy=create)


def _say_elsewhere(problem: Problem, session: Session) -> str:
    return session.say("cli.elsewhere", program=session.call, number=problem.number)


def _keep(content: bytes, path: Path) -> Path:
    """Write the content beside the file under the first free number, and return where."""
    number = 1
    while True:
        backup = path.with_name(f"{path.name}.{number}.bak")
        try:
            with backup.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            number += 1
        else:
            return backup


def _exchange(path: Path, content: bytes) -> None:
    """Replace a file's content in one step: it is the old or the new one at any moment."""
    import shutil
    import tempfile

    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        shutil.copymode(path, temporary)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
