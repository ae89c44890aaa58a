"""The join comes after combine, which reads what the branches are still writing.

Caught by: test_2_order.py::test_a_call_is_ordered[default_stream]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

WARM_UPS = 3


class Captured(NamedTuple):
    """A model as a graph: copy into ``input``, replay ``graph``, read ``output``."""

    graph: torch.cuda.CUDAGraph
    input: Tensor
    """Like the example, the graph's own: the values to compute with."""
    output: Tensor
    """What the model returns for them, after each replay."""


class ForkJoin:
    """Runs independent branches of a layer side by side: ``combine(*(branch(x) for branch in branches))``.

    Args:
        branches: one or more; each takes a tensor on the device, does not write into it, and returns another.
        combine: takes their results, in the order of the branches, and returns one tensor.
    """

    def __init__(self, branches: Sequence[Callable[[Tensor], Tensor]], combine: Callable[..., Tensor]) -> None:
        self._first, *self._others = branches
        self._combine = combine
        self._sides = [torch.cuda.Stream() for _ in self._others]

    def __call__(self, x: Tensor) -> Tensor:
        """Return what the layer makes of ``x``; eagerly, or as a part of the capture that the current stream is in.

        The first branch and ``combine`` run on the current stream, each further branch on a side stream of its own.

        Args:
            x: ready on the current stream, and on no other.

        Returns:
            What ``combine`` returns, ready on the current stream.

        Raises:
            Exception: what a branch or ``combine`` raises.

        Synchronises: no.
        """
        current = torch.cuda.current_stream()
        for side in self._sides:
            side.wait_stream(current)  # x is ready; and a side stream of a capture is drawn into it
        results = []
        for side, branch in zip(self._sides, self._others, strict=True):
            with torch.cuda.stream(side):
                results.append(branch(x))
        first = self._first(x)
        if not torch.cuda.is_current_stream_capturing():
            for result in results:
                result.record_stream(current)  # combine still reads them when their names are gone
        combined = self._combine(first, *results)
        for side in self._sides:
            current.wait_stream(side)
        return combined


def capture(model: Callable[[Tensor], Tensor], example: Tensor) -> Captured:
    """Return a model as a graph, forks and joins included.

    Args:
        model: takes and returns one tensor on the device; it may be, or call, any number of :class:`ForkJoin`.
        example: an input of the shape and dtype that the graph is for, ready on the current stream; never written to.

    Synchronises: yes.
    """
    static = example.clone()
    caller, side = torch.cuda.current_stream(), torch.cuda.Stream()
    side.wait_stream(caller)
    with torch.cuda.stream(side):
        for _ in range(WARM_UPS):
            model(static)
    caller.wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        output = model(static)
    return Captured(graph, static, output)
