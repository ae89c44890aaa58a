"""What files a problem is made of, and reading them with care."""

from __future__ import annotations

import stat
from pathlib import Path

from judge.catalog.faults import FolderFault, explain, make_fault, phrase, show_path

PROBLEM_PAGES = ("README.md", "README.zh.md", "stub.py")
REFERENCE_PAGES = ("solution.py", "explanation.md", "explanation.zh.md")
TOML_FILES = ("problem.toml", "hints.toml")


def read_text(path: Path, *, folder: Path) -> str:
    """Return the text of one of a problem's files.

    Args:
        path: the file.
        folder: the problem's folder, for the fault.

    Raises:
        FolderFault: the file is missing, no regular file, unreadable or not UTF-8.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise make_fault("not_a_file", folder=folder, at=path, file=path.name)
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        purpose = phrase(f"purpose_{path.name}")
        raise make_fault("missing_file", folder=folder, at=path, file=path.name, purpose=purpose) from None
    except OSError as reason:
        raise make_unreadable(path, reason, folder=folder) from None
    try:
        # An editor's byte order mark is no fault of the author.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = content.count(b"\n", 0, reason.start) + 1
        byte = f"0x{reason.object[reason.start]:02x}"
        raise make_fault("not_utf8", folder=folder, at=path, line=line, file=path.name, byte=byte) from None


def make_unreadable(path: Path, reason: OSError, *, folder: Path) -> FolderFault:
    """Return the fault for a file or folder that the system refuses to read."""
    return make_fault("unreadable", folder=folder, at=path, file=path.name, reason=explain(reason))


def check_files(folder: Path, reference_folder: Path) -> list[FolderFault]:
    """Return a fault for each file, other than TOML, that is missing or is no text, and for missing tests."""
    faults = [fault for name in PROBLEM_PAGES if (fault := _check_page(folder / name, folder))]
    faults += _check_tests(folder)
    try:
        next(reference_folder.iterdir(), None)
    except (FileNotFoundError, NotADirectoryError):
        missing = show_path(reference_folder)
        return [*faults, make_fault("no_reference", folder=folder, at=reference_folder, reference=missing)]
    except OSError as reason:
        return [*faults, make_unreadable(reference_folder, reason, folder=folder)]
    return faults + [fault for name in REFERENCE_PAGES if (fault := _check_page(reference_folder / name, folder))]


def _check_page(path: Path, folder: Path) -> FolderFault | None:
    try:
        read_text(path, folder=folder)
    except FolderFault as fault:
        return fault
    return None


def _check_tests(folder: Path) -> list[FolderFault]:
    if any(path.is_file() for path in folder.glob("test_*.py")):
        return []
    return [make_fault("no_tests", folder=folder, at=folder)]
