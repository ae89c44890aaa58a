"""A device without torch, and programs on bytes for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from judge.devices.sim.cost import Work
from judge.devices.sim.graphs.graph import Graph
from judge.devices.sim.graphs.randomness import Randomness
from judge.devices.sim.machine import Machine
from judge.devices.sim.profile import load_profile
from judge.devices.sim.provision import provide_memory
from judge.devices.sim.races.geometry import Access
from judge.devices.sim.races.shadow import Shadow
from judge.devices.sim.sites import Site
from judge.devices.sim.streams import Stream

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch  # noqa: F401

BYTES = 512


class Dice:
    """A generator that counts."""

    def __init__(self) -> None:
        self.seed = 0
        self.drawn = 0

    def initial_seed(self) -> int:
        """Return the seed."""
        return self.seed

    def get_state(self) -> tuple[int, int]:
        """Return seed and count."""
        return self.seed, self.drawn

    def set_state(self, state: tuple[int, int]) -> None:
        """Put seed and count back."""
        self.seed, self.drawn = state

    def roll(self) -> int:
        """Draw a number."""
        self.drawn += 1
        return self.seed + self.drawn


class Bench:
    """A device, and operations that write one number into all bytes of a block."""

    def __init__(self) -> None:
        self.dice = Dice()
        self.machine = machine = Machine(load_profile())
        machine.shadow = Shadow(machine.name_actor, machine.host_vector)
        provide_memory(machine, environment={})
        machine.randomness = Randomness(machine.memory, lambda: self.dice)
        self.line = 0

    def stream(self) -> Stream:
        """Return a stream of the pool."""
        return self.machine.streams.get()

    def allocate(self, value: int | None = None) -> int:
        """Return a block for the current stream, its bytes set by the host if a value is given."""
        address: int = self.machine.memory.allocate(BYTES, self.machine.current.handle)
        if value is not None:
            self.bytes_of(address)[:] = bytes([value]) * BYTES
        capture = self.machine.current.capture
        if capture is not None:
            capture.own(address, BYTES)
        return address

    def bytes_of(self, address: int) -> memoryview:
        """Return a block's bytes."""
        view: memoryview = self.machine.memory.arena.view(address, BYTES)
        return view

    def read(self, address: int) -> int:
        """Return a block's first byte."""
        return self.bytes_of(address)[0]

    def fill(self, target: int, source: int | None = None, plus: int = 0, duration_us: float = 10.0) -> None:
        """Write the value of another block (or 0), and a number more, into a block on the current stream."""
        machine = self.machine

        def redo() -> None:
            value = plus if source is None else self.read(source) + plus
            self.bytes_of(target)[:] = bytes([value % 256]) * BYTES

        reads = () if source is None else (Access(source, source + BYTES),)
        writes = (Access(target, target + BYTES),)
        machine.preserve(writes)
        redo()
        self.line += 1
        work = Work("fill", duration_us, "sm", 0.1)
        machine.launch(work, reads, writes, site=Site("user.py", self.line, "main"), redo=redo)

    def capture(self, graph: Graph, stream: Stream, mode: str = "global") -> Capturing:
        """Return a context in which the current stream is captured into a graph."""
        return Capturing(self, graph, stream, mode)


class Capturing:
    """What ``torch.cuda.graph`` does, as far as it matters here."""

    def __init__(self, bench: Bench, graph: Graph, stream: Stream, mode: str) -> None:
        self._machine = bench.machine
        self._graph = graph
        self._stream = stream
        self._mode = mode

    def __enter__(self) -> None:
        self._before = self._machine.current
        self._machine.current = self._stream
        self._graph.begin(None, self._mode)

    def __exit__(self, *exception: object) -> None:
        try:
            self._graph.end()
        finally:
            self._machine.current = self._before


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Return a fresh device, closed afterwards."""
    bench = Bench()
    yield bench
    bench.machine.memory.close()
    bench.machine.pinned.close()
