"""Virtual time: the host, the streams' queues, and the engines that run their work. All in microseconds."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from judge.devices.sim.profile import Profile
from judge.devices.sim.sites import Site

if TYPE_CHECKING:
    from judge.devices.sim.cost import Work
    from judge.devices.sim.streams import Stream

NEVER = float("inf")
_FULL = 1.0 + 1e-9


class Task:
    """One kernel, copy or replay in a stream's queue.

    ``start_us`` and ``end_us`` are settled no earlier than virtual time needs them; until then both are infinite.
    """

    __slots__ = ("end_us", "issue_us", "number", "predecessors", "queue", "ready_us", "site", "start_us", "work")

    def __init__(self, queue: Stream, work: Work, site: Site, issue_us: float, number: int) -> None:
        self.queue = queue
        """The stream it was queued on."""
        self.work = work
        self.site = site
        """The user's line."""
        self.issue_us = issue_us
        """Host time of the launch call's return."""
        self.number = number
        """Its place among all launches, from 1."""
        self.predecessors: list[Task] | None = queue.frontier
        """What it waits for; forgotten once settled."""
        self.ready_us = -1.0
        """When it could start on a free engine; negative until that is known."""
        self.start_us = NEVER
        self.end_us = NEVER

    @property
    def name(self) -> str:
        """Name of the op."""
        return self.work[0]

    @property
    def duration_us(self) -> float:
        """Device time."""
        return self.work[1]

    @property
    def engine(self) -> str:
        """``sm``, ``h2d`` or ``d2h``."""
        return self.work[2]

    @property
    def occupancy(self) -> float:
        """Share of the multiprocessors."""
        return self.work[3]

    @property
    def stream(self) -> str:
        """Name of the stream."""
        return self.queue.name

    def __repr__(self) -> str:
        return f"<{self.name} on {self.stream}: {self.start_us:.2f} to {self.end_us:.2f} us>"


class Clock:
    """Runs queued work against virtual time.

    Work is placed on its engine in the order of virtual time, not of the calls: a task's start is settled only when
    the host's time has passed it, or the host waits for it, because until then a launch yet to come may be ready
    earlier. One engine runs each direction of copies, one task at a time; the multiprocessors (``sm``) run kernels side
    by side while their occupancies add up to no more than the whole. Among tasks that could start at the same time the
    higher priority goes first, then the one that was ready first.

    Args:
        profile: the device's constants.
    """

    def __init__(self, profile: Profile) -> None:
        self.host_us = 0.0
        self._latency_us = profile.engines.launch_latency_us
        self._queue_length = profile.engines.queue_length
        self._busy: list[Stream] = []
        """Streams with unsettled tasks."""
        self._running: list[tuple[float, float]] = []
        """End and occupancy of kernels on the multiprocessors, a heap by end."""
        self._used = 0.0
        """Sum of the occupancies in the heap."""
        self._reached_us = 0.0
        """Start of the last kernel settled; the heap says nothing of the time before."""
        self._links = {"h2d": 0.0, "d2h": 0.0}
        """When each copy engine is free again."""
        self.count = 0
        """Tasks submitted so far."""

    def advance(self, host_us: float) -> None:
        """Let host time pass by so much."""
        self.host_us += host_us

    def submit(self, stream: Stream, work: Work, site: Site) -> Task:
        """Queue work on a stream, at the host's present time, after the stream's frontier.

        When the stream's queue is full, the host waits until its oldest task has ended.
        """
        inflight = stream.inflight
        if len(inflight) >= self._queue_length:
            self._make_room(stream)
        self.count = number = self.count + 1
        task = Task(stream, work, site, self.host_us, number)
        stream.frontier = [task]
        pending = stream.pending
        if not pending:
            self._busy.append(stream)
        pending.append(task)
        inflight.append(task)
        return task

    def settle(self, until_us: float | None = None) -> None:
        """Settle every task that starts by ``until_us`` (the host's time if left out).

        Settling beyond the host's time is for the end: work launched after that starts no earlier than what it settled.
        """
        limit = self.host_us if until_us is None else until_us
        while self._busy:
            if len(self._busy) == 1 and self._settle_alone(self._busy[0], limit):
                return
            best = self._choose()
            if best is None or best[0] > limit:
                return
            self._start(best[0], best[1])

    def _settle_alone(self, stream: Stream, limit: float) -> bool:
        """Do the same for the only stream that has work, in a run of kernels that need no comparing.

        Returns:
            Whether the limit was reached. If not, the general way must go on.
        """
        pending = stream.pending
        latency_us = self._latency_us
        before = self._find_solitary(pending[0])
        last: Task | None = None
        is_limited = False
        while pending and before is not None:
            task = pending[0]
            predecessors = task.predecessors
            if task.work[2] != "sm" or predecessors is None or len(predecessors) != 1 or predecessors[0] is not before:
                break
            start_us = task.issue_us + latency_us
            if before.end_us > start_us:
                start_us = before.end_us
            if start_us > limit:
                is_limited = True
                break
            task.predecessors = None
            task.ready_us = task.start_us = start_us
            task.end_us = start_us + task.work[1]
            stream.busy_us += task.work[1]
            before = last = task
            pending.popleft()
        if last is not None:  # nothing else runs any more: each of these started after all the rest had ended
            self._reached_us, self._used = last.start_us, last.work[3]
            self._running = [(last.end_us, self._used)]
        if not pending:
            self._busy.remove(stream)
        return is_limited

    def _find_solitary(self, task: Task) -> Task | None:
        """Return a task's only predecessor, if all that runs on the multiprocessors ends no later than that."""
        predecessors = task.predecessors
        if predecessors is None or len(predecessors) != 1:
            return None
        before = predecessors[0]
        if before.end_us == NEVER or any(end_us > before.end_us for end_us, _ in self._running):
            return None
        return before

    def find_end(self, tasks: list[Task]) -> float:
        """Return when the last of some tasks ends, the host being blocked until then; 0 for none."""
        end_us = 0.0
        for task in tasks:
            while task.end_us == NEVER:
                if len(self._busy) == 1 and self._busy[0].pending[-1] is task:
                    self._settle_alone(self._busy[0], NEVER)
                    if task.end_us != NEVER:
                        break
                best = self._choose()
                if best is None:
                    raise RuntimeError(f"{task!r} waits for itself")
                self._start(best[0], best[1])
            end_us = max(end_us, task.end_us)
        return end_us

    def has_ended(self, tasks: list[Task]) -> bool:
        """Tell whether some tasks have all ended by the host's time."""
        if any(task.end_us == NEVER for task in tasks):
            self.settle()
        return all(task.end_us <= self.host_us for task in tasks)

    def _make_room(self, stream: Stream) -> None:
        self.settle()
        inflight = stream.inflight
        while inflight and inflight[0].end_us <= self.host_us:
            inflight.popleft()
        if len(inflight) >= self._queue_length:
            self.host_us = max(self.host_us, self.find_end([inflight.popleft()]))

    def _choose(self) -> tuple[float, Stream] | None:
        """Return the next start and its stream: the earliest, then by priority, readiness and order of calls."""
        best_key: tuple[float, int, float, int] | None = None
        best_stream: Stream | None = None
        for stream in self._busy:
            task = stream.pending[0]
            ready_us = task.ready_us
            if ready_us < 0.0 and (ready_us := self._find_ready(task)) < 0.0:
                continue
            key = (self._find_start(task, ready_us), stream.priority, ready_us, task.number)
            if best_key is None or key < best_key:
                best_key, best_stream = key, stream
        return None if best_key is None or best_stream is None else (best_key[0], best_stream)

    def _find_ready(self, task: Task) -> float:
        """Return when a task could start on a free engine; -1 while a predecessor's end is open."""
        ready_us = task.issue_us + self._latency_us
        for before in task.predecessors or ():
            if before.end_us > ready_us:
                if before.end_us == NEVER:
                    return -1.0
                ready_us = before.end_us
        task.ready_us = ready_us
        task.predecessors = None  # the past may be forgotten
        return ready_us

    def _find_start(self, task: Task, ready_us: float) -> float:
        if task.work[2] != "sm":
            return max(ready_us, self._links[task.work[2]])
        ready_us = max(ready_us, self._reached_us)
        room = _FULL - task.work[3]
        if self._used <= room:
            return ready_us
        used = self._used
        for end_us, occupancy in sorted(self._running):
            used -= occupancy
            if used <= room:
                return max(ready_us, end_us)
        return ready_us

    def _start(self, start_us: float, stream: Stream) -> None:
        task = stream.pending.popleft()
        if not stream.pending:
            self._busy.remove(stream)
        task.start_us = start_us
        task.end_us = end_us = start_us + task.work[1]
        stream.busy_us += task.work[1]
        if task.work[2] != "sm":
            self._links[task.work[2]] = end_us
            return
        self._reached_us = start_us
        running = self._running
        while running and running[0][0] <= start_us:
            self._used -= heappop(running)[1]
        if not running:
            self._used = 0.0  # shed rounding
        heappush(running, (end_us, task.work[3]))
        self._used += task.work[3]
