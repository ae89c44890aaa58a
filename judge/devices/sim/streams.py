"""Streams: FIFO queues of device work, and the pools from which ``torch.cuda.Stream()`` draws them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn, Protocol

from judge.devices.sim.races.vectors import HOST, merge

if TYPE_CHECKING:
    from judge.devices.sim.clock import Task
    from judge.devices.sim.cost import Work
    from judge.devices.sim.events import Event, Moment
    from judge.devices.sim.graphs.nodes import Redo
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.sites import Site

NOBODY = -1
"""The place in vector clocks of a stream that there is not."""
POOL_SIZE = 32
"""Streams of one priority; the next one asked for is the first again."""
LOWEST_PRIORITY = 0
HIGHEST_PRIORITY = -3

_FIRST_HANDLE = 0x5555_0000_0010
_FIRST_OWN_HANDLE = 0x5556_0000_0010
_HANDLE_STEP = 0x40


class Capture(Protocol):
    """A graph capture, as far as streams need to know it."""

    is_active: bool
    """False once an error has invalidated it."""
    mode: str
    """``global``, ``thread_local`` or ``relaxed``."""
    thread: int
    """Identity of the thread that began it."""

    def add(
        self,
        stream: Stream,
        work: Work,
        reads: Sequence[Access],
        writes: Sequence[Access],
        site: Site,
        redo: Redo | None,
    ) -> Task:
        """Add a kernel or a copy as a node after all that ``stream`` has in this capture."""

    def record(self, stream: Stream) -> object:
        """Return what an event recorded on ``stream`` stands for inside the capture."""

    def wait(self, stream: Stream, moment: Moment) -> None:
        """Make ``stream`` wait for an event of this capture; a stream from outside is drawn into the capture.

        Raises:
            RuntimeError: CUDA error 902 or 905, as the case is.
        """

    def record_external(self, stream: Stream, event: Event) -> None:
        """Add a node that records an event in every replay."""

    def wait_external(self, stream: Stream, event: Event) -> None:
        """Add a node that waits for an event in every replay."""

    def preserve(self, writes: Sequence[Access]) -> None:
        """Keep bytes that are about to change, since a capture changes none."""

    def own(self, address: int, size_bytes: int) -> None:
        """Take new memory for the capture's own."""

    def refuse(self, what: str) -> NoReturn:
        """Invalidate the capture and raise CUDA error 900 (901 when it is invalid already)."""


class Stream:
    """One stream of the device.

    Args:
        handle: the ``cudaStream_t`` as a number; 0 is the default stream.
        index: the stream's place in vector clocks.
        priority: 0 down to -3; lower goes first.
        name: how reports call it.
        stream_id: PyTorch's number for it.
        is_blocking: ordered with the default stream both ways, as streams of other libraries can be.
    """

    __slots__ = (
        "busy_us",
        "capture",
        "frontier",
        "handle",
        "host_version",
        "index",
        "inflight",
        "is_blocking",
        "name",
        "pending",
        "priority",
        "stream_id",
        "vector",
    )

    def __init__(
        self, handle: int, index: int, priority: int, name: str, *, is_blocking: bool, stream_id: int | None = None
    ) -> None:
        self.handle = handle
        self.stream_id = handle if stream_id is None else stream_id
        self.index = index
        self.priority = priority
        self.name = name
        self.is_blocking = is_blocking
        self.vector: list[int] = [0] * (index + 1)
        """What this stream's next work is ordered after: of each actor, the number of its last such work."""
        self.host_version = -1
        """Version of the host's vector that was merged last; an unchanged one need not be merged again."""
        self.capture: Capture | None = None
        self.frontier: list[Task] = []
        """The tasks that the stream's next work waits for."""
        self.pending: deque[Task] = deque()
        """Tasks whose times are not settled yet, in order."""
        self.inflight: deque[Task] = deque()
        """Tasks that may not have ended by the host's time, in order."""
        self.busy_us = 0.0
        """Device time of its settled tasks."""

    @property
    def is_default(self) -> bool:
        """Whether this is the legacy default stream, which never blocks others of its kind."""
        return self.handle == 0

    def __repr__(self) -> str:
        return f"<simulated stream {self.name!r} handle={self.handle:#x}>"


class StreamPool:
    """All streams of a device.

    Source: c10/cuda/CUDAStream.cpp, torch 2.13.
    """

    def __init__(self) -> None:
        self.default = Stream(0, 1, 0, "default", is_blocking=False)
        self.streams: list[Stream] = [self.default]
        """Every stream there is, by its place in vector clocks less one."""
        self.blocking: list[Stream] = []
        """Streams that the default stream waits for, and that wait for it."""
        self._by_handle: dict[int, Stream] = {0: self.default}
        self._by_id: dict[int, Stream] = {0: self.default}
        self._pools: dict[int, list[Stream]] = {}
        self._asked: dict[int, int] = {}

    def get(self, priority: int = 0) -> Stream:
        """Return the next stream of a priority's pool, round-robin; the priority is clamped to what there is.

        CUDA makes all 32 at once. Here each comes into being when it is first handed out, which nobody can tell,
        and vector clocks stay short.
        """
        level = max(HIGHEST_PRIORITY, min(LOWEST_PRIORITY, priority))
        pool = self._pools.setdefault(level, [])
        turn = self._asked.get(level, 0)
        self._asked[level] = turn + 1
        slot = turn % POOL_SIZE
        if slot == len(pool):
            handle = _FIRST_HANDLE + _HANDLE_STEP * (-level * POOL_SIZE + slot)
            stream_id = slot << 5 | (1 - level) << 1 | 1
            pool.append(self._add(level, is_blocking=False, handle=handle, stream_id=stream_id))
        return pool[slot]

    def find(self, handle: int) -> Stream | None:
        """Return the stream with a handle, or ``None``."""
        return self._by_handle.get(handle)

    def find_id(self, stream_id: int) -> Stream:
        """Return the stream that PyTorch knows by a number; one that it never gave out is an external handle."""
        stream = self._by_id.get(stream_id)
        return self.external(stream_id) if stream is None else stream

    def name_of(self, index: int) -> str:
        """Return the name of a place in vector clocks: ``host``, or a stream's."""
        return "host" if index == HOST else self.streams[index - 1].name

    def index_of(self, handle: int) -> int:
        """Return the place in vector clocks of the stream with a handle; -1 if there is none."""
        stream = self._by_handle.get(handle)
        return NOBODY if stream is None else stream.index

    def external(self, handle: int) -> Stream:
        """Return the stream that another library made, known from now on by its handle.

        A handle never seen before is taken for a stream of ``cudaStreamCreate``, which is blocking.
        """
        stream = self._by_handle.get(handle)
        return stream if stream is not None else self._add(0, is_blocking=True, handle=handle)

    def join_kin(self, stream: Stream) -> None:
        """Order a stream's next work after what its kind waits for by itself.

        The default stream waits for every blocking stream, and each of those for the default stream. Streams of the
        pools wait for neither.
        """
        if stream.handle == 0:
            others = self.blocking
        elif stream.is_blocking:
            others = [self.default]
        else:
            return
        for other in others:
            merge(stream.vector, other.vector)
            if other.frontier:
                stream.frontier = [*stream.frontier, *other.frontier]

    def create(self, *, priority: int = 0, is_blocking: bool = True) -> Stream:
        """Return a new stream outside the pools (``cudaStreamCreateWithPriority``)."""
        return self._add(priority, is_blocking=is_blocking)

    def _add(
        self, priority: int, *, is_blocking: bool, handle: int | None = None, stream_id: int | None = None
    ) -> Stream:
        number = len(self.streams)
        if handle is None:
            handle = _FIRST_OWN_HANDLE + _HANDLE_STEP * number
        name = f"stream {number}"
        stream = Stream(handle, number + 1, priority, name, is_blocking=is_blocking, stream_id=stream_id)
        self.streams.append(stream)
        self._by_handle[handle] = stream
        if stream_id is not None:
            self._by_id[stream_id] = stream
        if is_blocking:
            self.blocking.append(stream)
        return stream
