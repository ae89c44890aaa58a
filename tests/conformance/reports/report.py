"""A public report of somebody bitten, as two small programs: the fault, and its mended twin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

BUSY_CYCLES = 400_000_000
"""About 200 ms on an H200: long enough for the host to run far ahead."""


@dataclass(frozen=True)
class Report:
    """A report.

    A program returns whether what it saw was wrong. It runs unmodified on a GPU, real or simulated.

    Args:
        name: of the test.
        source: where it was reported.
        faulty: shows the fault.
        mended: does the same and is right.
        races: kinds of the races that the simulated device tells of the faulty program.
        error: pattern of what the faulty program's exception says, if the fault is one.
        is_wrong_on_sim: whether the faulty program's values are wrong on the simulated device too; a race that went
            well this time shows in the report of races alone. On a real GPU they always are.
    """

    name: str
    source: str
    faulty: Callable[[], bool]
    mended: Callable[[], bool]
    races: tuple[str, ...] = ()
    error: str = ""
    is_wrong_on_sim: bool = True
