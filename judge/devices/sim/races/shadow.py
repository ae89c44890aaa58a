"""Shadow memory: who touched which bytes last, and whether the next access is ordered after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import RLock

from judge.devices.sim.races.advice import Reporter
from judge.devices.sim.races.cells import Cells, Record, Track
from judge.devices.sim.races.conflicts import Conflict, find_conflicts
from judge.devices.sim.races.findings import Findings
from judge.devices.sim.races.footprint import REPLAY, Footprint
from judge.devices.sim.races.geometry import Access
from judge.devices.sim.races.owners import Owners
from judge.devices.sim.races.report import Kind, Race
from judge.devices.sim.races.vectors import HOST, Vector, clock_of
from judge.devices.sim.sites import UNKNOWN, Site

LOG_LIMIT = 32_768
"""Operations of a single stream that wait, unlooked at, for a second actor."""
PRUNE_STORES = 32_768
"""Accesses that are stored between two looks at what can be forgotten, at least."""
MAX_ACCESSES = 1_000_000
"""Accesses that are kept. Beyond that the older half is forgotten, and ``forgotten`` counts it."""

NOBODY = -1
SEVERAL = -2
_new = tuple.__new__

_BEGIN = ""
"""Stands for the operation's name in the log where bytes get a new owner."""


class Shadow:
    """Finds accesses to the same bytes that nothing orders.

    As long as a single stream has unfinished work, nothing can race: its operations only join a log. When another
    actor comes, the log is entered into cells by address. The host's own accesses are never kept, since whatever is
    launched later is ordered after them.

    Args:
        name_of: gives the name of an actor, for people.
        host: the host's vector clock, the living list; what it knows to be over is forgotten.
        code_of: gives an expression for an actor's stream in the user's code, if it finds one.
        actor_of: gives the actor of a stream's handle.
        former_of: gives the line that allocated the last block that was freed at an address, if it is known.
    """

    def __init__(
        self,
        name_of: Callable[[int], str],
        host: Vector | None = None,
        code_of: Callable[[int], str | None] = lambda _: None,
        actor_of: Callable[[int], int] = lambda _: NOBODY,
        former_of: Callable[[int], Site | None] = lambda _: None,
    ) -> None:
        self._findings = Findings()
        self.races = self._findings.races
        """Every race once, by kind and lines, in the order they were found. Only ever appended to."""
        self.forgotten = 0
        """Accesses that were dropped for want of room: races with them go unseen."""
        self._reporter = Reporter(name_of, code_of, former_of)
        self._owners = Owners()
        self._actor_of = actor_of
        self._host: Vector = [] if host is None else host
        self._cells = Cells()
        self._log: list[tuple[int, Sequence[Access], Sequence[Access], str, Site]] = []
        self._sole = NOBODY
        """The only actor with unfinished work, if there is just one."""
        self._newest: dict[int, int] = {}
        """Clock of each actor's last operation in the cells."""
        self._stores = 0
        self._prune_at = PRUNE_STORES
        self._lock = RLock()
        """Held where cells change: programs launch from several threads."""

    def forget_known(self) -> None:
        """Report races anew that have been reported: who watches from now on is to be told of all."""
        with self._lock:
            self._findings.forget_known()

    # Operations

    def access(
        self, actor: int, vector: Vector, reads: Sequence[Access], writes: Sequence[Access], name: str, site: Site
    ) -> Sequence[Race]:
        """Enter an operation, and return the races that it is the first to show.

        Args:
            actor: the stream that runs it; the host for its accesses to pinned memory.
            vector: the actor's vector clock, its own entry counted up for this operation.
            reads: bytes that it reads. Kept: the sequence must not change any more.
            writes: bytes that it writes, likewise.
            name: of the operation.
            site: the user's line.
        """
        if actor == self._sole:
            log = self._log
            log.append((vector[actor], reads, writes, name, site))
            if len(log) >= LOG_LIMIT:
                self._shorten_log()
            return ()
        with self._lock:
            if self._sole != SEVERAL and not self._admit(actor):
                if actor != HOST:
                    self._log.append((vector[actor], reads, writes, name, site))
                return ()
            return self._compare(actor, vector, reads, writes, (vector[actor], name, site))

    def replay(self, actor: int, vector: Vector, footprint: Footprint, site: Site) -> Sequence[Race]:
        """Enter the replay of a graph, one step of its stream, and return the races that it is the first to show.

        Args:
            actor: the stream that it runs on.
            vector: the stream's vector clock, its own entry counted up for this replay.
            footprint: what the graph's nodes touch.
            site: the line that replays.
        """
        found: list[Race] = []
        for owner, access, name, captured in footprint.held:
            freed = self._owners.find_end(owner)
            if freed is not None:
                free = Conflict(HOST, (0, "free", freed), access, False, False, True)
                node = name, captured
                found += self._add("stale-graph-input", free, actor, (vector[actor], REPLAY, site), node)
        for reads, writes, name in footprint.nodes():
            found += self.access(actor, vector, reads, writes, name, site)
        return found

    def hold(self, footprint: Footprint, access: Access, name: str, site: Site) -> None:
        """Note that a graph, being captured, uses a tensor from outside, which has to live as long as its replays."""
        owner = self._owners.find(access.low)
        if owner is not None:
            self._owners.hold(owner)
            footprint.held.append((owner, access, name, site))

    def adopt(self, races: Iterable[Race]) -> Sequence[Race]:
        """Take in races that another shadow found, and return those that are new here."""
        return [race for race in races if self._findings.take(race)]

    def sibling(self) -> Shadow:
        """Return an empty shadow with the same names, for the operations inside one graph capture."""
        names = self._reporter
        return Shadow(names.name_of, None, names.code_of, self._actor_of, names.former_of)

    # Owners

    def begin(self, address: int, size: int, stream: int | None = None) -> None:
        """Note that bytes have a new owner: what races with older accesses to them is told as reuse.

        Args:
            address: of the first byte.
            size: bytes.
            stream: handle of the stream that the block belongs to.
        """
        with self._lock:
            self._owners.begin(address, size, stream)
            if log := self._log:  # so there is a sole actor
                taken = _new(Access, (address, address + size, None, 1, "", False))  # in half the time of Access()
                log.append((log[-1][0], (taken,), (), _BEGIN, UNKNOWN))
            elif self._newest:
                self._cells.begin(address, address + size)

    def end(self, address: int, size: int, stream: int | None = None) -> None:
        """Note that the owner of some bytes gave them up; accesses that may still race stay with the bytes."""
        del size, stream
        self._owners.end(address)

    def forget(self, address: int, size: int) -> None:
        """Forget what was done to bytes that go back to the driver, which waits for the device first."""
        with self._lock:
            self._apply_log()
            self._cells.forget(address, address + size)

    def settle(self) -> None:
        """Forget everything if the host knows all of it to be over. Called whenever the host has learnt something."""
        if self._sole == NOBODY:
            return
        with self._lock:
            self._clear_if_known()

    # Inside

    def _clear_if_known(self) -> None:
        host = self._host
        if self._log and self._log[-1][0] > clock_of(host, self._sole):
            return
        for actor, clock in self._newest.items():
            if clock > clock_of(host, actor):
                return
        self._log.clear()
        self._cells.clear()
        self._newest.clear()
        self._stores = 0
        self._sole = NOBODY

    def _admit(self, actor: int) -> bool:
        """Tell whether an actor that is not the sole one finds anything to be compared with."""
        self.settle()
        if self._sole == NOBODY:
            if actor != HOST:
                self._sole = actor
            return False
        self._apply_log()
        if actor != HOST:
            self._sole = SEVERAL
        return True

    def _shorten_log(self) -> None:
        with self._lock:
            self.settle()
            self._apply_log()

    def _apply_log(self) -> None:
        """Enter the log into the cells, without what the host knows to be over."""
        if not self._log:
            return
        log, self._log = self._log, []
        known = clock_of(self._host, self._sole)
        for clock, reads, writes, name, site in log:
            if clock <= known:
                continue
            if name == _BEGIN:
                self._cells.begin(reads[0].low, reads[0].high)
            else:
                self._compare(self._sole, (), reads, writes, (clock, name, site))

    def _compare(
        self, actor: int, vector: Sequence[int], reads: Sequence[Access], writes: Sequence[Access], record: Record
    ) -> Sequence[Race]:
        """Hold an operation against the cells, and enter it there; the host's are not entered."""
        conflicts: dict[int, Conflict] = {}
        cells = self._cells
        by_low = cells.by_low
        for accesses, is_write in ((reads, False), (writes, True)):
            for access in accesses:
                low, high = access[0], access[1]
                if low >= high:
                    continue
                if actor == HOST:
                    for hit in cells.find(low, high):
                        find_conflicts(hit, actor, vector, access, is_write, conflicts)
                    continue
                cell = by_low.get(low)
                if cell is None or cell.high < high:
                    cell = cells.cover(low, high)
                tracks = cell.tracks
                track = tracks.get(actor)
                if track is None:
                    track = tracks[actor] = Track()
                if len(tracks) > 1:
                    find_conflicts(cell, actor, vector, access, is_write, conflicts)
                track.enter(access, record, is_write)
        if actor != HOST:
            self._newest[actor] = record[0]
            self._stores += len(reads) + len(writes)
            if self._stores >= self._prune_at:
                self._prune()
        return self._tell(actor, record, conflicts) if conflicts else ()

    def _tell(self, actor: int, record: Record, conflicts: dict[int, Conflict]) -> Sequence[Race]:
        found: list[Race] = []
        for conflict in conflicts.values():
            found += self._add(self._classify(actor, conflict), conflict, actor, record)
        return found

    def _classify(self, actor: int, conflict: Conflict) -> Kind:
        if actor == HOST:
            return "host-write-early" if conflict.is_write else "host-read-early"
        if conflict.is_former:
            owner = self._owners.find(conflict.access.low)
            is_own = owner is not None and owner.stream is not None and self._actor_of(owner.stream) == conflict.actor
            return "unordered-block" if is_own else "reused-block"
        if not conflict.is_write:
            return "read-after-write"
        return "write-after-write" if conflict.was_write else "write-after-read"

    def _add(
        self, kind: Kind, conflict: Conflict, actor: int, record: Record, node: tuple[str, Site] | None = None
    ) -> Sequence[Race]:
        """Put a race into words and take it in, unless its lines are known to race."""
        one, two = conflict.record[2], record[2]
        if self._findings.count_again((kind, one.file, one.line, two.file, two.line)):
            return ()
        race = self._reporter.report(kind, conflict, actor, record, node)
        self._findings.take(race)
        return (race,)

    def _prune(self) -> None:
        """Forget what the host knows to be over, and make room if that is not enough."""
        count = self._cells.prune(self._host)
        while count > MAX_ACCESSES:
            before = count
            count = self._cells.drop_older_half()
            self.forgotten += before - count
        self._stores = 0
        self._prune_at = max(PRUNE_STORES, count)
