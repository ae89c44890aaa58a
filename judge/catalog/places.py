"""Where problems lie: packs and their folders. Standard library only."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import judge
from judge.catalog.faults import show_path
from judge.errors import UsageError
from judge.locale import choose_language, say


@dataclass(frozen=True)
class Pack:
    """A folder that holds ``problems/`` and ``reference/``."""

    root: Path
    """Absolute, symbolic links resolved."""

    @property
    def problems(self) -> Path:
        """Folder of the problem folders."""
        return self.root / "problems"

    @property
    def reference(self) -> Path:
        """Folder of the reference folders."""
        return self.root / "reference"


def repository_root() -> Path | None:
    """Return the folder above the package when it holds ``problems/``; an installed judge has none."""
    root = Path(judge.__file__).resolve().parent.parent
    return root if _is_folder(root / "problems") else None


def find_packs(extra: Sequence[Path] = ()) -> tuple[Pack, ...]:
    """Return the repository's pack and those at ``extra``, each once, in that order.

    Raises:
        UsageError: a folder of ``extra`` holds no ``problems/``.
    """
    for folder in extra:
        if not _is_folder(folder / "problems"):
            raise _refuse(folder)
    own = repository_root()
    roots = [*([own] if own else []), *extra]
    return tuple(Pack(root) for root in dict.fromkeys(root.resolve() for root in roots))


def is_stray(name: str) -> bool:
    """Return whether a tool left the file or folder there: it belongs to no problem."""
    return name.startswith(".") or name == "__pycache__"


def problem_folders(pack: Pack) -> Iterator[Path]:
    """Yield what stands in ``problems/`` for a problem, by name; strays and plain files are left out.

    Symbolic links that lead nowhere are yielded, so that they are reported.

    Raises:
        OSError: ``problems/`` can't be read.
    """
    for path in sorted(pack.problems.iterdir()):
        mode = _mode_of(path)
        if not is_stray(path.name) and (mode is None or stat.S_ISDIR(mode)) and not _is_leftover(path):
            yield path


def _is_leftover(folder: Path) -> bool:
    """Return whether only strays are left in it, as after a switch to a branch without the problem."""
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError:
        return False
    return bool(names) and all(map(is_stray, names))


def _is_folder(path: Path) -> bool:
    mode = _mode_of(path)
    return mode is not None and stat.S_ISDIR(mode)


def _mode_of(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    # ValueError: a null byte in the path.
    except (OSError, ValueError):
        return None


def _refuse(folder: Path) -> UsageError:
    language = choose_language(sys.argv[1:])
    shown = show_path(folder)
    remedy = say("catalog.no_pack_remedy", language, folder=shown)
    for above in list(folder.absolute().parents)[:2]:
        if _is_folder(above / "problems"):
            remedy = say("catalog.no_pack_remedy_above", language, above=show_path(above))
            break
    return UsageError(say("catalog.no_pack", language, folder=shown), place="--problems", remedy=remedy)
