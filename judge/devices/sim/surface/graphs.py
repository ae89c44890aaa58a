"""What ``torch.cuda.CUDAGraph`` and its relatives stand on: PyTorch's own Python runs on top. (torch)"""

from __future__ import annotations

import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.graphs.drawing import draw_graph
from judge.devices.sim.graphs.frozen import BARE
from judge.devices.sim.graphs.graph import Graph
from judge.devices.sim.surface.bases import swap_base

if TYPE_CHECKING:
    from judge.devices.sim.allocator.pools import PoolId
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.machine import Machine
    from judge.devices.sim.patches import Patches

_EMPTY = (
    "The CUDA Graph is empty. This usually means that the graph was attempted to be captured on wrong device or stream."
)
_NO_DEBUG = "CUDA Graphs debug not enabled, set with [graph].enable_debug_mode()"


class GraphBase:
    """Stands in for ``torch._C._CUDAGraph``.

    Args:
        keep_graph: whether what was captured outlives its instantiation, which then waits to be asked for.

    Source: torch/csrc/cuda/Graph.cpp, torch 2.13.
    """

    _machine: Machine
    _graph: Graph

    def __new__(cls, keep_graph: bool = False) -> Self:  # noqa: D102  # the class tells
        instance = super().__new__(cls)
        instance._graph = Graph(cls._machine, keep_graph=keep_graph)
        weakref.finalize(instance, instance._graph.close).atexit = False
        return instance

    def register_generator_state(self, generator: torch.Generator) -> None:
        """Let captures that begin from now on draw from a generator."""
        self._graph.register_generator(generator)

    def capture_begin(self, pool: PoolId | None = None, capture_error_mode: str = "global") -> None:
        """Begin to capture on the current stream."""
        self._graph.begin(pool, capture_error_mode)

    def capture_end(self) -> None:
        """End the capture; warn when nothing was captured."""
        if not self._graph.end():
            warnings.warn(_EMPTY, UserWarning, stacklevel=2)

    def capture_end_pre(self) -> None:
        """End the capture and keep what was captured until :meth:`capture_end_post`; new in torch 2.14."""
        if not self._graph.finish():
            warnings.warn(_EMPTY, UserWarning, stacklevel=3)

    def capture_end_post(self) -> None:
        """Forget what was captured unless it is to be kept; new in torch 2.14."""
        self._graph.discard()

    def instantiate(self) -> None:
        """Make what was captured ready to be replayed."""
        self._graph.instantiate()

    def replay(self) -> None:
        """Run on the current stream what was captured."""
        with BARE:
            self._graph.replay()

    def reset(self) -> None:
        """Forget what was captured."""
        self._graph.reset()

    def pool(self) -> PoolId:
        """Return the id of the pool that the graph's memory comes from."""
        return self._graph.pool_id

    def pools(self) -> list[PoolId]:
        """Return the ids of all pools that the graph holds; new in torch 2.14."""
        return self._graph.pool_ids

    def _retain_pool(self, pool: PoolId) -> None:
        self._graph.retain_pool(pool)

    @property
    def _has_graph_exec(self) -> bool:
        return self._graph.is_instantiated

    def enable_debug_mode(self) -> None:
        """Allow dumps from now on; torch 2.14 keeps the graph for it."""
        self._machine.captures.is_debugging = True
        if hasattr(self, "_keep_graph"):
            self._graph.is_kept = True

    def debug_dump(self, debug_path: str) -> None:
        """Write a drawing of the graph, if it is kept."""
        if not self._machine.captures.is_debugging and not self._graph.is_kept:
            warnings.warn(_NO_DEBUG, UserWarning, stacklevel=2)
            return
        warnings.warn("DEBUG: calling debug_dump()", UserWarning, stacklevel=2)
        if self._graph.nodes is not None:
            warnings.warn(f"DEBUG: calling cudaGraphDebugDotPrint() with {debug_path}", UserWarning, stacklevel=2)
            Path(debug_path).write_text(draw_graph(self._graph.nodes), encoding="utf-8")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # it never returns
        """Say what is not simulated."""
        if name.endswith(("_to_if_node", "_to_while_node", "_conditional_node", "_for_current_node")):
            raise NotSimulated(f"torch.cuda.CUDAGraph.{name}", "conditional nodes are not simulated")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def raw_cuda_graph(self) -> int:
        """Return a number that stands for the ``cudaGraph_t``."""
        return self._graph.graph_handle

    def raw_cuda_graph_exec(self) -> int:
        """Return a number that stands for the ``cudaGraphExec_t``."""
        return self._graph.executable_handle


def install(simulation: Simulation, patches: Patches) -> None:
    """Put graphs under PyTorch's own classes and functions.

    Args:
        simulation: whose device is captured; its memory is there.
        patches: takes note of what is replaced.
    """
    machine = simulation.machine
    machine.randomness.find_default = lambda: simulation.execution.default_generator
    base = type("_CUDAGraph", (GraphBase,), {"_machine": machine})
    swap_base(patches, torch.cuda.CUDAGraph, base)
    patches.set(torch.cuda.graph, "default_capture_stream", None)

    def is_capturing() -> bool:
        return machine.current.capture is not None

    replaced: dict[str, Any] = {
        "_cuda_isCurrentStreamCapturing": is_capturing,
        "_graph_pool_handle": machine.memory.pool_ids.next_user,
    }
    for name, value in replaced.items():
        patches.set(torch._C, name, value)
        patches.set(torch.cuda.graphs, name, value)
    patches.set(torch._C, "_CUDAGraph", base)
    for name in ("_cuda_runtime", "_cuda_driver"):
        patches.set(torch.cuda.graphs, name, None)  # they would take our handles for real ones
    if hasattr(torch.cuda.graphs, "_dump_graph_dot"):
        patches.set(torch.cuda.graphs, "_dump_graph_dot", _dump_graph)


def _dump_graph(graph: GraphBase, path: str, *, verbose: bool = True) -> None:  # noqa: ARG001  # part of the interface
    """Write a drawing of a graph that is kept, as torch 2.14 does without asking for debug mode."""
    graph.raw_cuda_graph()
    Path(path).write_text(draw_graph(graph._graph.nodes or []), encoding="utf-8")
