"""One capture: what its streams are given becomes nodes instead of running."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from judge.devices.sim.clock import Task
from judge.devices.sim.cuda_errors import (
    CAPTURE_IMPLICIT,
    CAPTURE_INVALIDATED,
    CAPTURE_ISOLATION,
    CAPTURE_MERGE,
    CAPTURE_UNJOINED,
    CAPTURE_UNSUPPORTED,
    INVALID_VALUE,
    cuda_error,
)
from judge.devices.sim.graphs.images import BeforeImages, Intervals
from judge.devices.sim.graphs.nodes import Kind, Node, Redo, find_ancestors
from judge.devices.sim.races.footprint import Footprint
from judge.devices.sim.races.vectors import Vector, merge, tick
from judge.devices.sim.sites import find_site

if TYPE_CHECKING:
    from judge.devices.sim.cost import Work
    from judge.devices.sim.events import Event, Moment
    from judge.devices.sim.graphs.randomness import Generator
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.races.shadow import Shadow
    from judge.devices.sim.sites import Site
    from judge.devices.sim.streams import Stream


class Point(NamedTuple):
    """A place in a capture."""

    tails: tuple[int, ...]
    """Numbers of the nodes that it follows."""
    vector: Vector
    """Vector clock of the stream, among the capture's streams only."""


class Capture:
    """A capture under way, until :meth:`end`.

    A stream takes part once it is the one that the capture began on, or waits for an event of a stream that does.

    Args:
        origin: the stream that it begins on.
        mode: ``global``, ``thread_local`` or ``relaxed``.
        view: gives the bytes of a range of device memory, by address and size.
        shadow: finds races: those of replays with other work, and those inside the graph.
        pool: what captures with the same pool of memory have allocated so far.

    Source: ``cudaStreamBeginCapture`` and "Creating a Graph Using Stream Capture" of the CUDA C++ Programming Guide.
    """

    def __init__(
        self,
        origin: Stream,
        mode: str,
        view: Callable[[int, int], memoryview],
        shadow: Shadow | None = None,
        pool: Intervals | None = None,
    ) -> None:
        self.origin = origin
        self.mode = mode
        self.thread = threading.get_ident()
        self.is_active = True
        """False once an error has invalidated it."""
        self.is_over = False
        self.nodes: list[Node] = []
        self.generators: Sequence[Generator] = ()
        """Generators that it may draw from."""
        self.is_random = False
        """Whether it drew from one."""
        self._images = BeforeImages(view)
        self._tails: dict[Stream, tuple[int, ...]] = {origin: ()}
        """Of each stream that takes part, the nodes that its next one waits for."""
        self._branches: dict[Stream, int] = {origin: 0}
        self._vectors: dict[Stream, Vector] = {origin: []}
        self.footprint = Footprint()
        """What the graph touches, for the shadow memory."""
        self._shadow = shadow
        self._inner = None if shadow is None else shadow.sibling()
        self._pool = Intervals() if pool is None else pool
        self._held: set[int] = set()
        origin.capture = self

    @property
    def streams(self) -> list[Stream]:
        """The streams that take part, the one it began on first."""
        return list(self._tails)

    # What the machine calls instead of running something.

    def add(
        self,
        stream: Stream,
        work: Work,
        reads: Sequence[Access],
        writes: Sequence[Access],
        site: Site,
        redo: Redo | None,
    ) -> Task:
        """Add a kernel or a copy as a node after all that ``stream`` has in this capture.

        Args:
            stream: one that takes part.
            work: what it is and how long it takes.
            reads: bytes that it reads.
            writes: bytes that it writes. Those not kept by :meth:`preserve` count as the capture's own.
            site: where the user's code asked for it.
            redo: does it again on the bytes at the same addresses.

        Returns:
            A task that no stream has, and that never runs.

        Raises:
            RuntimeError: CUDA error 901, the capture is invalid.
        """
        self.check()
        for access in writes:
            for low, high in self._images.find_unknown(access.low, access.high):
                self.own(low, high - low)
        self._enter(stream, reads, writes, work.name, site)
        self._append(stream, "work", site, work=work, reads=reads, writes=writes, redo=redo)
        return Task(stream, work, site, 0.0, 0)

    def record(self, stream: Stream) -> Point:
        """Return what an event recorded on ``stream`` stands for inside the capture.

        Raises:
            RuntimeError: CUDA error 901, the capture is invalid.
        """
        self.check()
        return Point(self._tails[stream], self._vectors[stream].copy())

    def wait(self, stream: Stream, moment: Moment) -> None:
        """Make a stream wait for an event, where either of them is of this capture.

        A stream from outside the capture is drawn in by an event from inside.

        Raises:
            RuntimeError: CUDA error 905, the event is from outside; 1, its capture is over; 902, it is of another
                capture than the stream; 906, the stream is the default one; 901, the capture is invalid. All but the
                last invalidate.
        """
        source = moment.capture
        if source is None:
            self._fail(CAPTURE_ISOLATION)
        if self.is_over:
            raise cuda_error(INVALID_VALUE)
        if isinstance(source, Capture) and source.is_over:
            self._fail(INVALID_VALUE)
        if source is not self:
            source.is_active = False
            self._fail(CAPTURE_MERGE)
        self.check()
        if stream.handle == 0:
            self._fail(CAPTURE_IMPLICIT)
        point = moment.node
        assert isinstance(point, Point)
        stream.capture = self
        self._branches.setdefault(stream, len(self._branches))
        self._tails[stream] = tuple(dict.fromkeys((*self._tails.get(stream, ()), *point.tails)))
        merge(self._vectors.setdefault(stream, []), point.vector)

    def record_external(self, stream: Stream, event: Event) -> None:
        """Add a node that records an event in every replay (``external=True``)."""
        self.check()
        self._append(stream, "record", find_site(), event=event)

    def wait_external(self, stream: Stream, event: Event) -> None:
        """Add a node that waits in every replay for what an event last recorded (``external=True``)."""
        self.check()
        self._append(stream, "wait", find_site(), event=event)

    # Bytes.

    def preserve(self, writes: Sequence[Access]) -> None:
        """Keep the bytes that an operation is about to write in place: a capture changes none."""
        for access in writes:
            self._images.save(access.low, access.high)

    def own(self, address: int, size_bytes: int) -> None:
        """Take new memory for the capture's own: it holds no values before the first replay."""
        self._images.own(address, address + size_bytes)
        self._pool.add(address, address + size_bytes)

    # Ends, good and bad.

    def check(self) -> None:
        """Raise CUDA error 901 when the capture is invalid."""
        if not self.is_active:
            raise cuda_error(CAPTURE_INVALIDATED)

    def invalidate(self) -> None:
        """Make all that follows fail with CUDA error 901, :meth:`end` included."""
        self.is_active = False

    def refuse(self, what: str) -> NoReturn:  # noqa: ARG002  # the error's text does not name the call
        """Invalidate the capture and raise CUDA error 900, again and again."""
        self.invalidate()
        raise cuda_error(CAPTURE_UNSUPPORTED)

    def end(self) -> None:
        """Let the streams go and put all bytes back.

        Raises:
            RuntimeError: CUDA error 901, the capture is invalid; 904, a stream that was drawn in has work that the
                stream it began on does not wait for.
        """
        self.is_over = True
        for stream in self._tails:
            stream.capture = None
        self._images.restore()
        if self._shadow is not None and self._inner is not None:
            self._shadow.adopt(self._inner.races)
        self.check()
        if len(find_ancestors(self.nodes, self._tails[self.origin])) < len(self.nodes):
            raise cuda_error(CAPTURE_UNJOINED)

    def _append(self, stream: Stream, kind: Kind, site: Site, **details: Any) -> None:  # noqa: ANN401  # of a node
        node = Node(kind, self._branches[stream], self._tails[stream], site, **details)
        self._tails[stream] = (len(self.nodes),)
        self.nodes.append(node)

    def _enter(self, stream: Stream, reads: Sequence[Access], writes: Sequence[Access], name: str, site: Site) -> None:
        """Tell the shadow memory of a node."""
        if self._shadow is None or self._inner is None:
            return
        self.footprint.add(reads, writes, name, site)
        for access in (*reads, *writes):
            if access.low not in self._held and access.low not in self._pool:
                self._held.add(access.low)
                self._shadow.hold(self.footprint, access, name, site)
        vector = self._vectors[stream]
        tick(vector, stream.index)
        self._inner.access(stream.index, vector, reads, writes, name, site)

    def _fail(self, code: int) -> NoReturn:
        was_active = self.is_active
        self.invalidate()
        raise cuda_error(code if was_active else CAPTURE_INVALIDATED)
