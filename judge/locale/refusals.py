"""Why the operating system or SQLite refused, in the reader's language: they know only their own."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from judge.locale import say

if TYPE_CHECKING:
    import sqlite3  # `--help` must not wait for it

SYSTEM = (
    "ENOENT",
    "EACCES",
    "EPERM",
    "EROFS",
    "ENOSPC",
    "EDQUOT",
    "EISDIR",
    "ENOTDIR",
    "ELOOP",
    "ENAMETOOLONG",
    "EMFILE",
    "EIO",
)
SQLITE = {
    "SQLITE_CANTOPEN": "unopened",
    "SQLITE_READONLY": "unwritable",
    "SQLITE_FULL": "ENOSPC",
    "SQLITE_IOERR": "EIO",
    "SQLITE_BUSY": "busy",
    "SQLITE_LOCKED": "busy",
}


def explain_refusal(fault: OSError | sqlite3.Error, language: str) -> str:
    """Return the reason as a part of a sentence; a rare one is left in the words that it came with."""
    if isinstance(fault, OSError):
        name = errno.errorcode.get(fault.errno or 0, "")
        return say(f"refusals.{name}", language) if name in SYSTEM else fault.strerror or str(fault)
    # An extended code goes on: SQLITE_READONLY_DIRECTORY.
    code = "_".join(getattr(fault, "sqlite_errorname", "").split("_")[:2])
    return say(f"refusals.{SQLITE[code]}", language) if code in SQLITE else str(fault)
