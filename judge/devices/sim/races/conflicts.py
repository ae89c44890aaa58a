"""The accesses of a cell that an operation is not ordered after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from judge.devices.sim.races.cells import Accesses, Cell, Record
from judge.devices.sim.races.geometry import Access, overlaps


class Conflict(NamedTuple):
    """An earlier access that an operation races with."""

    actor: int
    record: Record
    access: Access
    """What the earlier operation touched."""
    was_write: bool
    """Whether the earlier access wrote."""
    is_write: bool
    """Whether the operation writes there."""
    is_former: bool
    """Whether the bytes had another owner then."""


def find_conflicts(
    cell: Cell, actor: int, vector: Sequence[int], access: Access, is_write: bool, found: dict[int, Conflict]
) -> None:
    """Add to ``found``, by actor, the newest access in a cell that an operation races with.

    Args:
        cell: where to look.
        actor: who runs the operation.
        vector: what the operation is ordered after.
        access: the bytes that it touches.
        is_write: whether it writes them.
        found: the newest conflict with each other actor so far; changed in place.
    """
    size = len(vector)
    for other, track in cell.tracks.items():
        if other == actor:
            continue
        known = vector[other] if other < size else 0
        if track.newest_write > known:
            _look(cell, track.writes, known, other, True, access, is_write, found)
        if is_write and track.newest_read > known:
            _look(cell, track.reads, known, other, False, access, is_write, found)


def _look(
    cell: Cell,
    accesses: Accesses,
    known: int,
    other: int,
    was_write: bool,
    access: Access,
    is_write: bool,
    found: dict[int, Conflict],
) -> None:
    """Keep the newest access after clock ``known`` that shares a byte with ``access`` and is not atomic like it."""
    best = found.get(other)
    if best is not None and best.record[0] > known:
        known = best.record[0]
    low, high, is_atomic = access.low, access.high, access.is_atomic
    for earlier in reversed(accesses):
        record = accesses[earlier]
        if record[0] <= known:
            return
        if (
            earlier.low < high
            and low < earlier.high
            and not (is_atomic and earlier.is_atomic)
            and overlaps(access, earlier)
        ):
            is_former = record[0] <= cell.former.get(other, 0)
            found[other] = Conflict(other, record, earlier, was_write, is_write, is_former)
            return
