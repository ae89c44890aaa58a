"""Ranges of bytes with the accesses to them that may still race, found by address."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from judge.devices.sim.races.geometry import Access
from judge.devices.sim.races.vectors import Vector, clock_of
from judge.devices.sim.sites import Site

Record = tuple[int, str, Site]
"""An access's clock on its actor, the operation's name, and the user's line."""

Accesses = dict[Access, Record]
"""The last access to each set of bytes, in the order of their clocks."""


class Track:
    """What one actor did to the bytes of a cell. For each set of bytes only the last read and write count.

    Who is ordered after the last one is ordered after those before it: an actor's own steps are in order.
    """

    __slots__ = ("newest_read", "newest_write", "reads", "writes")

    def __init__(self, reads: Accesses | None = None, writes: Accesses | None = None) -> None:
        self._set(reads or {}, writes or {})

    def _set(self, reads: Accesses, writes: Accesses) -> None:
        self.reads = reads
        self.writes = writes
        self.newest_read = next(reversed(reads.values()))[0] if reads else 0
        """Clock of the last read: most checks end with it."""
        self.newest_write = next(reversed(writes.values()))[0] if writes else 0

    def __len__(self) -> int:
        return len(self.reads) + len(self.writes)

    def enter(self, access: Access, record: Record, is_write: bool) -> None:
        """Note an access, the newest of this actor."""
        if is_write:
            accesses = self.writes
            self.newest_write = record[0]
        else:
            accesses = self.reads
            self.newest_read = record[0]
        if access in accesses:
            del accesses[access]
        accesses[access] = record

    def absorb(self, other: Track) -> None:
        """Take in what the same actor did to neighbouring bytes, or to the same bytes later."""
        self._set(_in_order(self.reads, other.reads), _in_order(self.writes, other.writes))

    def cut(self, low: int, high: int) -> Track:
        """Return the part that reaches into a range."""
        return Track(_cut(self.reads, low, high), _cut(self.writes, low, high))

    def prune(self, known: int) -> None:
        """Drop what happened up to clock ``known``, and what a later write of the same actor covers whole.

        Whoever is not ordered after the covered access is not ordered after the write either, and races with it.
        """
        if self.newest_read <= known and self.newest_write <= known:
            self._set({}, {})
            return
        cover = next((item for item in reversed(self.writes.items()) if item[0].strides is None), None)
        self._set(_keep(self.reads, known, cover), _keep(self.writes, known, cover))


def _cut(accesses: Accesses, low: int, high: int) -> Accesses:
    return {access: record for access, record in accesses.items() if access.low < high and low < access.high}


def _in_order(older: Accesses, newer: Accesses) -> Accesses:
    if not older or not newer:
        return older or newer
    joined = dict(older)
    for access, record in newer.items():
        if access not in joined or joined[access][0] < record[0]:
            joined[access] = record
    return dict(sorted(joined.items(), key=lambda item: item[1][0]))


def _keep(accesses: Accesses, known: int, cover: tuple[Access, Record] | None) -> Accesses:
    return {
        access: record
        for access, record in accesses.items()
        if record[0] > known
        and not (
            cover is not None
            and record[0] < cover[1][0]
            and cover[0].low <= access.low
            and access.high <= cover[0].high
            and access.is_atomic >= cover[0].is_atomic
        )
    }


class Cell:
    """A range of bytes and what was done to them, by actor.

    Args:
        low: address of the first byte.
        high: address after the last one.
    """

    __slots__ = ("former", "high", "low", "tracks")

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high
        self.tracks: dict[int, Track] = {}
        self.former: dict[int, int] = {}
        """Last clock of each actor at which it touched the bytes for a former owner."""

    def pass_on(self) -> None:
        """Give the bytes a new owner."""
        for actor, track in self.tracks.items():
            self.former[actor] = max(track.newest_read, track.newest_write)

    def absorb(self, other: Cell) -> None:
        """Take in a cell of the neighbourhood, with the same owner."""
        self.low = min(self.low, other.low)
        self.high = max(self.high, other.high)
        for actor, track in other.tracks.items():
            self.tracks.setdefault(actor, Track()).absorb(track)
        for actor, clock in other.former.items():
            self.former[actor] = max(self.former.get(actor, 0), clock)

    def cut(self, low: int, high: int) -> Cell:
        """Return the part between two addresses, as a cell of its own."""
        part = Cell(low, high)
        part.tracks = {actor: cut for actor, track in self.tracks.items() if (cut := track.cut(low, high))}
        part.former = dict(self.former)
        return part

    def prune(self, host: Vector) -> int:
        """Forget what the host knows to be over, and return how many accesses are left."""
        count = 0
        for actor, track in list(self.tracks.items()):
            track.prune(clock_of(host, actor))
            count += len(track)
            if not track:
                del self.tracks[actor]
        return count


class Cells:
    """All cells; no two of them overlap."""

    def __init__(self) -> None:
        self.by_low: dict[int, Cell] = {}
        self._lows: list[int] = []

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.by_low.values())

    def clear(self) -> None:
        """Forget everything."""
        self.by_low.clear()
        self._lows.clear()

    def find(self, low: int, high: int) -> list[Cell]:
        """Return the cells that share bytes with a range, by address."""
        lows = self._lows
        first = bisect_right(lows, low) - 1
        if first < 0 or self.by_low[lows[first]].high <= low:
            first += 1
        return [self.by_low[lows[at]] for at in range(first, bisect_left(lows, high, first))]

    def cover(self, low: int, high: int) -> Cell:
        """Return the one cell that holds a whole range: found, new, or joined from those that lie in the range."""
        found = self.find(low, high)
        if len(found) == 1 and found[0].low <= low and high <= found[0].high:
            return found[0]
        cell = Cell(low, high)
        for part in found:
            self._remove(part)
            cell.absorb(part)
        self._insert(cell)
        return cell

    def begin(self, low: int, high: int) -> None:
        """Give the bytes of a range a new owner."""
        for cell in self.find(low, high):
            inner = cell
            if cell.low < low or high < cell.high:
                self._remove(cell)
                inner = cell.cut(max(low, cell.low), min(high, cell.high))
                for start, end in ((cell.low, low), (high, cell.high)):
                    if start < end:
                        self._insert(cell.cut(start, end))
                self._insert(inner)
            inner.pass_on()

    def forget(self, low: int, high: int) -> None:
        """Drop the cells of a range."""
        for cell in self.find(low, high):
            if low <= cell.low and cell.high <= high:
                self._remove(cell)

    def prune(self, host: Vector) -> int:
        """Forget what the host knows to be over, drop empty cells, and return how many accesses are left."""
        total = 0
        for cell in list(self.by_low.values()):
            count = cell.prune(host)
            total += count
            if not count:
                del self.by_low[cell.low]
        self._lows = sorted(self.by_low)
        return total

    def drop_older_half(self) -> int:
        """Forget the older half of each actor's clocks, and return how many accesses are left."""
        bounds: dict[int, tuple[int, int]] = {}
        for cell in self:
            for actor, track in cell.tracks.items():
                for clock, _, _ in (*track.reads.values(), *track.writes.values()):
                    least, most = bounds.get(actor, (clock, clock))
                    bounds[actor] = min(least, clock), max(most, clock)
        middle = [0] * (max(bounds, default=0) + 1)
        for actor, (least, most) in bounds.items():
            middle[actor] = (least + most) // 2
        return self.prune(middle)

    def _insert(self, cell: Cell) -> None:
        self._lows.insert(bisect_left(self._lows, cell.low), cell.low)
        self.by_low[cell.low] = cell

    def _remove(self, cell: Cell) -> None:
        del self._lows[bisect_left(self._lows, cell.low)]
        del self.by_low[cell.low]
