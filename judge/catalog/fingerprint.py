"""Tell whether any file of a pack has changed, without reading one. Standard library only."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import judge
from judge.catalog.places import Pack, is_stray

SETTLING_NS = 100_000_000
"""A file system's clock ticks more coarsely than this nowhere that we know of on Linux and macOS."""


@dataclass(frozen=True)
class Fingerprint:
    """The state of all files of some packs."""

    state: str
    """Differs whenever a file was edited, added, removed, renamed or exchanged.

    The whole of it, not a hash: it is short, and importing hashlib takes longer than everything done here.
    """
    newest_ns: int
    """Latest change of a file's inode, in nanoseconds since 1970."""

    def is_settled(self, now_ns: int) -> bool:
        """Return whether a further edit, made from now on, is sure to change the state.

        An edit within the tick of the file system's clock that saw the last one may leave all times alike.
        """
        return self.newest_ns < now_ns - SETTLING_NS


def take(packs: Iterable[Pack]) -> Fingerprint | None:
    """Return the fingerprint of the packs and of the catalog's own code; ``None``: a folder can't be read."""
    code = Path(judge.__file__).parent
    folders = [code / "catalog", code / "models"]
    for pack in packs:
        folders += [pack.problems, pack.reference]
    found = []
    newest_ns = 0
    try:
        for folder in folders:
            for name, state in _walk(folder, ""):
                found.append(repr((str(folder), name, *_identity(state))))
                if not stat.S_ISDIR(state.st_mode):
                    newest_ns = max(newest_ns, state.st_ctime_ns)
    except OSError:
        return None
    return Fingerprint("\n".join(found), newest_ns)


def _identity(state: os.stat_result) -> tuple[int, ...]:
    # A folder's own times also change with the strays in it.
    if stat.S_ISDIR(state.st_mode):
        return (state.st_mode,)
    return (state.st_mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)


def _walk(folder: Path | str, within: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every file and folder below ``folder``, strays left out, in a fixed order.

    Links to folders are followed only at the top, where a problem may be one: no loop can arise.
    """
    with os.scandir(folder) as entries:
        found = sorted((entry for entry in entries if not is_stray(entry.name)), key=lambda entry: entry.name)
    for entry in found:
        name = f"{within}/{entry.name}"
        state = entry.stat()
        if entry.is_symlink():
            yield f"{name} is a link", entry.stat(follow_symlinks=False)
        yield name, state
        if entry.is_dir(follow_symlinks=not within):
            yield from _walk(entry.path, name)
