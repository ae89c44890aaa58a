"""Interpreters that wait to be told what to run, and leave nothing behind when they are not."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.runner.nursery import Process, open_nursery

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def list_tree(folder: Path) -> list[int]:
    """Return the processes that work in a child's private folder: its supervisor and itself."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink().is_relative_to(folder):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def wait_for_child(process: Process) -> list[int]:
    """Wait until the supervisor has started the child's interpreter, and return both."""
    end = time.monotonic() + 10
    while len(list_tree(process.folder)) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    return list_tree(process.folder)


@linux
def test_what_was_never_asked_is_gone_with_the_nursery() -> None:
    """No process and no folder is left, though neither child was told to run anything."""
    with open_nursery() as processes:
        folders = [process.folder for process in processes]
        assert [2, 2] == [len(wait_for_child(process)) for process in processes]
    assert [[], []] == [list_tree(folder) for folder in folders]
    assert [False, False] == [folder.exists() for folder in folders]


@linux
def test_a_fault_ends_them_too() -> None:
    """The problem may not be found after they were started."""
    with contextlib.suppress(KeyError), open_nursery() as (process, _):
        wait_for_child(process)
        raise KeyError
    assert [] == list_tree(process.folder)
    assert not process.folder.exists()


def read_descriptors(number: int) -> Iterator[str]:
    """Yield what the descriptors of a process lead to; one that it opened for a moment may be gone."""
    for link in Path(f"/proc/{number}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            yield str(link.readlink())


@linux
def test_neither_child_holds_the_pipes_of_the_other() -> None:
    """A submission that held the oracle's end could write the oracle's records, or read its request."""
    with open_nursery() as processes:
        for process, other in (processes, processes[::-1]):
            ends = (other.report, other.status, other.output)
            foreign = {str(Path(f"/proc/self/fd/{end}").readlink()) for end in ends}
            for number in wait_for_child(process):
                assert set() == set(read_descriptors(number)) & foreign


def test_a_folder_is_removed_whatever_the_child_did_to_it() -> None:
    """A folder may have lost its permissions; closing twice does no harm."""
    with open_nursery(1) as (process,):
        inner = process.scratch / "closed"
        inner.mkdir()
        (inner / "file").touch()
        inner.chmod(0)
        process.close()
        assert not process.folder.exists()


def test_a_child_that_died_before_it_was_asked_is_no_fault_of_the_call() -> None:
    """The request finds no reader; what became of the child is read as ever."""
    with open_nursery(1) as (process,):
        process.kill()
        process.end()
        process.ask({})
        assert process.has_ended()
