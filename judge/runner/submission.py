"""Read a learner's file once, with care: from here on it is bytes."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
from pathlib import Path

from judge.errors import SubmissionUnreadable
from judge.locale import choose_language, say
from judge.locale.paths import make_absolute, show_path
from judge.locale.refusals import explain_refusal
from judge.models.submission import Submission

MAX_SOURCE_BYTES = 1 << 20


def freeze(path: Path) -> Submission:
    """Return the file's bytes and how reports name it.

    What the bytes say (syntax, encoding) is judged in the child: parsing 16 MB of literals takes gigabytes.

    Raises:
        SubmissionUnreadable: there is no such file, or it is no regular file, unreadable or over 1 MiB.
    """
    try:
        # O_NONBLOCK: opening a FIFO would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as fault:
        raise _explain(path, fault) from None
    try:
        kind = os.fstat(descriptor)
        if stat.S_ISDIR(kind.st_mode):
            raise _refuse("is_a_directory", "give_a_file", path=path)
        if not stat.S_ISREG(kind.st_mode):
            raise _refuse("is_no_file", "give_a_file", path=path)
    except BaseException:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as file:
        source = file.read(MAX_SOURCE_BYTES + 1)
    if len(source) > MAX_SOURCE_BYTES:
        size = max(kind.st_size, len(source))
        raise _refuse("too_large", "too_large_remedy", path=path, size=size, limit=MAX_SOURCE_BYTES)
    return Submission(source=source, shown_path=str(make_absolute(path)), sha256=hashlib.sha256(source).hexdigest())


def _explain(path: Path, fault: OSError) -> SubmissionUnreadable:
    if fault.errno in (errno.ENOENT, errno.ENOTDIR):
        return _refuse("no_such_file", "no_such_file_remedy", path=path)
    if fault.errno == errno.EISDIR:
        return _refuse("is_a_directory", "give_a_file", path=path)
    if fault.errno == errno.ELOOP:
        return _refuse("symlink_loop", "give_a_file", path=path)
    if fault.errno == errno.ENXIO:
        return _refuse("is_no_file", "give_a_file", path=path)
    detail = explain_refusal(fault, choose_language(sys.argv[1:]))
    return _refuse("not_readable", "check_permissions", path=path, detail=detail)


def _refuse(what: str, remedy: str, *, path: Path, **values: object) -> SubmissionUnreadable:
    language = choose_language(sys.argv[1:])
    values["path"] = show_path(path)
    return SubmissionUnreadable(
        say(f"runner.{what}", language, **values), remedy=say(f"runner.{remedy}", language, **values)
    )
