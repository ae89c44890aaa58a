"""The command line. Nothing is imported here that a command does not need: ``list`` answers in 0.2 s."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Args:
        argv: the arguments without the program's name; those of the process by default.
    """
    # A call makes little garbage; looking for it among modules and evidence would take a twentieth of the time.
    gc.set_threshold(50_000, 20, 100)
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        from judge.cli.entrance import enter

        return enter(arguments)
    except KeyboardInterrupt:
        # Struck while the modules were loading: nothing was running yet.
        _tell("cli.interrupted", arguments)
        return 130
    except ModuleNotFoundError as fault:
        from judge.catalog.places import repository_root
        from judge.locale.paths import quote_path

        root = repository_root()
        if root is None:
            _tell("cli.not_installed", arguments, package=fault.name)
        else:
            enter_folder = "" if root.samefile(".") else f"cd {quote_path(root)} && "
            _tell("cli.not_installed_here", arguments, package=fault.name, enter=enter_folder)
        return 3


def _tell(key: str, arguments: Sequence[str], **values: object) -> None:
    """Write a line with the standard library alone."""
    from judge.locale import choose_language, say

    sys.stderr.write(say(key, choose_language(arguments), **values) + "\n")
