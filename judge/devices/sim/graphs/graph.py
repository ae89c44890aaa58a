"""The life of a graph: captured once, instantiated, replayed, reset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge.devices.sim.allocator.pools import DEFAULT_POOL, PoolId
from judge.devices.sim.cuda_errors import ILLEGAL_STATE, cuda_error
from judge.devices.sim.graphs.capture import Capture
from judge.devices.sim.graphs.executable import Executable
from judge.devices.sim.graphs.nodes import Node
from judge.devices.sim.graphs.randomness import check_not_capturing

if TYPE_CHECKING:
    from judge.devices.sim.graphs.randomness import Generator
    from judge.devices.sim.machine import Machine

_MODES = ("global", "thread_local", "relaxed")

_OWNS_ONE = "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance."
_DEFAULT_STREAM = (
    "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the "
    "default stream.)"
)
_NO_MODE = "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got "
_RAW = "You cannot access the raw "


class Graph:
    """A graph of one device.

    Args:
        machine: the device.
        keep_graph: whether what was captured outlives its instantiation, which then waits to be asked for.

    Source: aten/src/ATen/cuda/CUDAGraph.cpp, torch 2.13.
    """

    def __init__(self, machine: Machine, *, keep_graph: bool = False) -> None:
        self._machine = machine
        self.is_kept = keep_graph
        """Whether what was captured outlives its instantiation."""
        self._stream = machine.current
        self._capture: Capture | None = None
        self._states: list[tuple[Generator, Any]] = []
        self._pool_id: PoolId = DEFAULT_POOL
        self._captured: Capture | None = None
        self._executable: Executable | None = None
        self._retained: list[PoolId] = []
        self.nodes: list[Node] | None = None
        """What was captured, as long as it is kept."""

    def register_generator(self, generator: Generator) -> None:
        """Let captures that begin from now on draw from a generator beside the default one."""
        self._machine.randomness.register(self, generator, self._machine.current)

    def begin(self, pool_id: PoolId | None = None, mode: str = "global") -> None:
        """Begin to capture on the current stream.

        Args:
            pool_id: the private pool that the graph shares with others; a new one if left out.
            mode: ``global``, ``thread_local`` or ``relaxed``: whose unsafe calls the capture forbids.

        Raises:
            RuntimeError: the graph has been captured, the current stream is the default one, or the mode is
                unknown; CUDA error 401 when the stream is in a capture.
        """
        if mode not in _MODES:
            raise RuntimeError(f"{_NO_MODE}{mode}")
        if self._executable is not None:
            raise RuntimeError(_OWNS_ONE)
        machine = self._machine
        machine.randomness.register_default(self, machine.current)
        stream = machine.current
        if stream.handle == 0:
            raise RuntimeError(_DEFAULT_STREAM)
        self._stream = stream
        self._pool_id = pool_id if pool_id and any(pool_id) else machine.memory.pool_ids.next_graph()
        routing = machine.memory.allocator.routing
        routing.begin(self._pool_id, self._takes)
        capture = self._capture = machine.captures.begin(stream, mode, machine.shadow, self._pool_id)
        capture.generators = machine.randomness.find(self)
        self._states = [(generator, generator.get_state()) for generator in capture.generators]

    def end(self) -> bool:
        """End the capture, on the stream that it began on, and instantiate the graph unless it is kept.

        Returns:
            Whether anything was captured.

        Raises:
            RuntimeError: as :meth:`finish` and :meth:`instantiate`.
        """
        is_filled = self.finish()
        if not self.is_kept:
            self.instantiate()
        self.discard()
        return is_filled

    def finish(self) -> bool:
        """End the capture, on the stream that it began on.

        Returns:
            Whether anything was captured.

        Raises:
            RuntimeError: another stream is current, or nothing is captured (CUDA error 401); 901, 904 and 908 as
                :meth:`judge.devices.sim.graphs.captures.Captures.end`. The graph's pool is never given back then.
        """
        machine = self._machine
        if machine.current is not self._stream:
            raise RuntimeError("Capture must end on the same stream it began on.")
        capture = self._capture
        if capture is None or capture.is_over:
            raise cuda_error(ILLEGAL_STATE)
        try:
            machine.captures.end(capture)
        finally:
            for generator, state in self._states:
                generator.set_state(state)
        machine.memory.allocator.routing.end(self._pool_id)
        self._captured = capture
        self.nodes = capture.nodes
        return bool(capture.nodes)

    def discard(self) -> None:
        """Forget what was captured, as far as it is not instantiated, unless the graph is kept."""
        if not self.is_kept:
            self.nodes = None

    def retain_pool(self, pool_id: PoolId) -> None:
        """Hold another pool until the graph is reset."""
        self._machine.memory.allocator.routing.hold(pool_id)
        self._retained.append(pool_id)

    def instantiate(self) -> None:
        """Make what was captured ready to be replayed.

        Raises:
            RuntimeError: nothing has been captured, or it was done and the graph is not kept; PyTorch's texts. CUDA
                error 900, another capture forbids it.
        """
        if self._captured is None:
            raise RuntimeError("capture_end() must have been called before calling instantiate")
        if self._executable is not None and not self.is_kept:
            raise RuntimeError("instantiate() is intended to be called by the user only when keep_graph=true")
        self._machine.captures.check_unsafe()
        self._executable = Executable(self._machine, self._captured)

    def replay(self) -> None:
        """Run on the current stream what was captured, on the addresses that it was captured with.

        Raises:
            RuntimeError: nothing has been captured, or the current stream is captured; PyTorch's texts.

        Synchronises: no.
        """
        if self._captured is None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        if self._executable is None:
            self.instantiate()
        stream = self._machine.current
        check_not_capturing(stream, "Cannot prepare for replay during capturing stage.")
        assert self._executable is not None
        self._executable.launch(stream)

    def reset(self) -> None:
        """Forget what was captured, and hold its pool no longer."""
        if self._captured is not None:
            self._release(self._pool_id)
        for pool_id in self._retained:
            self._release(pool_id)
        self._retained.clear()
        self._captured = self._executable = self.nodes = None

    def close(self) -> None:
        """End the graph's life."""
        self._machine.randomness.unregister(self)
        self.reset()

    @property
    def pool_id(self) -> PoolId:
        """The pool that the graph's memory comes from.

        Raises:
            RuntimeError: nothing has been captured; PyTorch's text.
        """
        if self._captured is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self._pool_id

    @property
    def pool_ids(self) -> list[PoolId]:
        """The pools that the graph holds."""
        return [*([self._pool_id] if self._captured is not None else []), *self._retained]

    @property
    def is_instantiated(self) -> bool:
        """Whether it is ready to be replayed."""
        return self._executable is not None

    @property
    def graph_handle(self) -> int:
        """A number that stands for the ``cudaGraph_t``.

        Raises:
            RuntimeError: graphs are not kept, or nothing has been captured; PyTorch's texts.
        """
        if not self.is_kept and self.nodes is None:
            raise RuntimeError(f"{_RAW}cudaGraph_t instance unless CUDAGraph was initialized with keep_graph=true")
        if self.nodes is None:
            raise RuntimeError(f"{_RAW}cudaGraph_t instance until capture_end() has been called")
        return id(self.nodes)

    @property
    def executable_handle(self) -> int:
        """A number that stands for the ``cudaGraphExec_t``.

        Raises:
            RuntimeError: nothing has been instantiated; PyTorch's text.
        """
        if self._executable is None:
            raise RuntimeError(f"{_RAW}cudaGraphExec_t instance until instantiate() has been called")
        return id(self._executable)

    def _release(self, pool_id: PoolId) -> None:
        routing = self._machine.memory.allocator.routing
        routing.release(pool_id)
        if routing.private[pool_id].use_count == 0:
            self._machine.captures.forget_pool(pool_id)

    def _takes(self, stream: int) -> bool:
        """Tell whether memory for a stream comes from the graph's pool: the stream takes part in the capture."""
        found = self._machine.streams.find(stream)
        return found is not None and found.capture is not None and found.capture is self._capture
