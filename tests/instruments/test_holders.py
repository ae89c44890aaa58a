"""Who held the memory at its peak, from the history of allocations."""

from __future__ import annotations

import importlib.util
from typing import Any

from judge.devices.sim.sites import UNKNOWN, Site
from judge.instruments.cuda.holders import find_holders
from judge.instruments.observation import Owner

TORCH = importlib.util.find_spec("torch").origin  # type: ignore[union-attr]  # it is installed


def entry(action: str, address: int, size: int, line: int = 1) -> dict[str, Any]:
    """Return a trace entry whose innermost frame is torch's own."""
    frames = [
        {"filename": TORCH, "line": 1, "name": "empty"},
        {"filename": "/home/me/script.py", "line": line, "name": "main"},
    ]
    return {"action": action, "addr": address, "size": size, "frames": frames}


def owner(line: int, size: int) -> Owner:
    """Return the owner that a line of the script is."""
    return Owner(Site("/home/me/script.py", line, "main"), size)


def test_the_peak_in_the_middle_is_told_by_line() -> None:
    """What was freed before, and what came after, did not hold the peak."""
    history = [
        entry("alloc", 1, 100, 1),
        entry("free_requested", 1, 100),
        entry("alloc", 2, 60, 2),
        entry("alloc", 3, 70, 3),
        entry("alloc", 4, 10, 2),
        entry("free_requested", 3, 70),
        entry("alloc", 5, 20, 5),
    ]
    assert (owner(2, 70), owner(3, 70)) == find_holders(history)


def test_a_peak_at_the_end_counts() -> None:
    """Nothing has to be freed for it."""
    assert (owner(2, 5), owner(1, 1)) == find_holders([entry("alloc", 1, 1, 1), entry("alloc", 2, 5, 2)])


def test_memory_from_before_is_nobody_s() -> None:
    """The history may have begun in the middle; a library's block has no line of the user's."""
    assert (Owner(UNKNOWN, 8),) == find_holders(
        [entry("free_requested", 9, 8), {"action": "alloc", "addr": 1, "size": 8, "frames": []}]
    )
