"""Random programs over streams, events, memory and the host, with the races that reachability gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from judge.devices.sim.cost import Work
from judge.devices.sim.events import Event, Moment
from judge.devices.sim.machine import Machine
from judge.devices.sim.races.geometry import Access
from judge.devices.sim.streams import Stream

ITEM_BYTES = 4
SIZES = (32, 64, 2048)
"""Bytes of tensors; small, so that blocks are reused soon."""


@dataclass
class Step:
    """One operation: who ran it, what had to happen before, and what it touched, byte by byte."""

    actor: int
    before: int
    """Bits of the steps that it is ordered after."""
    reads: set[int]
    writes: set[int]


@dataclass
class Tensor:
    """Memory of the device or pinned memory."""

    address: int
    size: int
    is_pinned: bool = False


@dataclass
class Oracle:
    """Who is ordered after which steps, as sets: nothing but reachability."""

    steps: list[Step] = field(default_factory=list)
    after: dict[int, int] = field(default_factory=dict)
    """Bits of the steps that an actor's next one is ordered after; actor 0 is the host."""

    def run(self, actor: int, reads: set[int], writes: set[int]) -> None:
        """Enter a step."""
        before = self.after.get(actor, 0) | self.after.get(0, 0)
        self.steps.append(Step(actor, before, reads, writes))
        self.after[actor] = before | 1 << len(self.steps) - 1

    def mark(self, actor: int) -> int:
        """Return what an event recorded now covers."""
        return self.after.get(actor, 0) | self.after.get(0, 0)

    def learn(self, actor: int, covered: int) -> None:
        """Order an actor's next steps after what an event covers."""
        self.after[actor] = self.after.get(actor, 0) | covered

    def races(self) -> Iterator[tuple[int, int]]:
        """Yield the races, as the places of both steps."""
        for late, second in enumerate(self.steps):
            touched = second.reads | second.writes
            for early in range(late):
                first = self.steps[early]
                if first.actor in (0, second.actor) or second.before >> early & 1:
                    continue
                if first.writes & touched or first.reads & second.writes:
                    yield early, late


class Program:
    """A random program, run on a machine and on the oracle at once.

    Args:
        machine: its streams beside the default one are ``streams``.
        streams: what the program runs on.
        seed: of all its choices.
    """

    def __init__(self, machine: Machine, streams: list[Stream], seed: int) -> None:
        self.machine = machine
        self.streams = streams
        self.oracle = Oracle()
        self._random = random.Random(seed)
        self._tensors: list[Tensor] = []
        self._events: list[tuple[Event, int]] = []

    def run(self) -> None:
        """Run some twenty steps."""
        acts: tuple[tuple[Callable[[], None], int], ...] = (
            (self._launch, 40),
            (self._record, 8),
            (self._wait, 8),
            (self._wait_stream, 8),
            (self._synchronize, 3),
            (self._query, 4),
            (self._allocate, 12),
            (self._free, 10),
            (self._touch, 5),
        )
        for _ in range(2):
            self._allocate()
        chosen = self._random.choices([act for act, _ in acts], [weight for _, weight in acts], k=22)
        for act in chosen:
            act()

    def close(self) -> None:
        """Give everything back, and let nothing be in flight."""
        self.machine.synchronize_device()
        for tensor in self._tensors:
            self._give_back(tensor)

    def _launch(self) -> None:
        stream = self._pick_stream()
        if not self._tensors:
            return
        reads = [self._view() for _ in range(self._random.randrange(3))]
        writes = [self._view() for _ in range(self._random.randrange(2))]
        self.oracle.run(stream.index, _union(reads), _union(writes))
        work = Work("kernel", self._random.choice((2.0, 30.0)), "sm", 0.1)
        self.machine.launch(work, reads, writes, stream=stream)

    def _touch(self) -> None:
        pinned = [tensor for tensor in self._tensors if tensor.is_pinned]
        if not pinned:
            return
        access = self._view(pinned)
        is_write = self._random.random() < 0.5
        touched = _union([access])
        self.oracle.run(0, set() if is_write else touched, touched if is_write else set())
        self.machine.host_access(access, "host", is_write=is_write)

    def _record(self) -> None:
        stream, event = self._pick_stream(), Event()
        self.machine.record(event, stream)
        self._events.append((event, self.oracle.mark(stream.index)))

    def _wait(self) -> None:
        if self._events:
            stream, (event, covered) = self._pick_stream(), self._random.choice(self._events)
            self.machine.wait(stream, event)
            self.oracle.learn(stream.index, covered)

    def _wait_stream(self) -> None:
        stream, other = self._pick_stream(), self._pick_stream()
        self.machine.wait_stream(stream, other)
        self.oracle.learn(stream.index, self.oracle.mark(other.index))

    def _synchronize(self) -> None:
        if self._events and self._random.random() < 0.5:
            event, covered = self._random.choice(self._events)
            self.machine.synchronize_event(event)
        else:
            stream = self._pick_stream()
            covered = self.oracle.mark(stream.index)
            self.machine.synchronize_stream(stream, kind="stream_synchronize", call="synchronize")
        self.oracle.learn(0, covered)

    def _query(self) -> None:
        if self._events:
            event, covered = self._random.choice(self._events)
            if self.machine.query_event(event):
                self.oracle.learn(0, covered)

    def _allocate(self) -> None:
        size = self._random.choice(SIZES)
        if self._random.random() < 0.25:
            self._tensors.append(Tensor(self.machine.pinned.allocate(size), size, is_pinned=True))
        else:
            self._tensors.append(Tensor(self.machine.memory.allocate(size, self._pick_stream().handle), size))

    def _free(self) -> None:
        if self._tensors:
            tensor = self._tensors.pop(self._random.randrange(len(self._tensors)))
            memory = self.machine.pinned if tensor.is_pinned else self.machine.memory
            for stream in self._random.sample(self.streams, self._random.randrange(3)):
                memory.record_stream(tensor.address, stream.handle)
            self._give_back(tensor)

    def _give_back(self, tensor: Tensor) -> None:
        (self.machine.pinned if tensor.is_pinned else self.machine.memory).free(tensor.address)

    def _pick_stream(self) -> Stream:
        return self._random.choice(self.streams)

    def _view(self, among: list[Tensor] | None = None) -> Access:
        """Return a view of a tensor: all of it, a range, every k-th element, or none."""
        tensor = self._random.choice(among or self._tensors)
        items = min(tensor.size // ITEM_BYTES, 16)
        start = self._random.choice((0, 0, 0, 1, 2, items // 2))
        step = self._random.choice((1, 1, 2, 3))
        count = 0 if self._random.random() < 0.03 else (items - start + step - 1) // step
        low = tensor.address + start * ITEM_BYTES
        span = 0 if count == 0 else ((count - 1) * step + 1) * ITEM_BYTES
        strides = None if step == 1 else ((count, step * ITEM_BYTES),)
        return Access(low, low + span, strides, ITEM_BYTES)


def _union(accesses: list[Access]) -> set[int]:
    """Return the addresses of all elements."""
    return {
        address
        for access in accesses
        for address in range(access.low, access.high, access.strides[0][1] if access.strides else ITEM_BYTES)
    }


class WatchedEvents:
    """Lets an oracle know what the allocators' own events teach the host.

    Args:
        machine: its allocators.
    """

    def __init__(self, machine: Machine) -> None:
        self.oracle = Oracle()
        self._machine = machine
        self._covered: dict[int, tuple[Moment, Oracle, int]] = {}

    def record(self, stream: int) -> Moment:
        """Record an event on a stream, given by its handle."""
        engine = self._machine.streams.external(stream)
        moment = self._machine.mark(engine)
        self._covered[id(moment)] = (moment, self.oracle, self.oracle.mark(engine.index))
        return moment

    def is_done(self, event: object) -> bool:
        """Tell whether an event is done; if it is, the host knows what it covers."""
        assert isinstance(event, Moment)
        if not self._machine.see(event):
            return False
        _, oracle, covered = self._covered.pop(id(event))
        oracle.learn(0, covered)
        return True

    def wait(self, event: object) -> None:
        """Never called: the programs never run out of memory."""
        raise NotImplementedError
