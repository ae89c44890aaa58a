"""A batch beyond the largest graph is cut into pieces that the graphs can hold.

Caught by: test_3_buckets.py::test_beyond_the_largest_the_model_runs_itself[20_rows]
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable

import torch
from torch import Tensor


class BucketedRunner:
    """Runs a model on batches of any size, by replaying the smallest CUDA graph that holds the batch.

    Args:
        model: takes a batch, (rows, …), on the device and returns as many rows; any callable.
        example: a batch of any number of rows, which shows shape, dtype and device of a row; its values don't matter.
        sizes: numbers of rows to capture a graph for, in any order, none twice; the caller's, never changed.
    """

    def __init__(self, model: Callable[[Tensor], Tensor], example: Tensor, sizes: Iterable[int]) -> None:
        self._model = model
        self._sizes = sorted(sizes)
        self._input = example.new_zeros((self._sizes[-1], *example.shape[1:]))
        self._graphs: dict[int, tuple[torch.cuda.CUDAGraph, Tensor]] = {}
        pool = torch.cuda.graph_pool_handle()
        caller, side = torch.cuda.current_stream(), torch.cuda.Stream()
        side.wait_stream(caller)  # the input's zeros, and the model's weights, may still be in the making
        for size in reversed(self._sizes):  # what the largest graph frees, the smaller ones divide among them
            self._graphs[size] = self._capture(size, pool, side)
        self._last_call = caller.record_event()

    def _capture(
        self, size: int, pool: tuple[int, int], side: torch.cuda.Stream
    ) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        """Capture the model for that many rows; return the graph and the tensor that its replays write to."""
        batch = self._input[:size]
        with torch.cuda.stream(side):
            self._model(batch)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool, stream=side):  # waits for the device first: the warm-up is over
            output = self._model(batch)
        return graph, output

    def __call__(self, x: Tensor) -> Tensor:
        """Return the model's output for the rows of ``x``.

        Args:
            x: (rows, …), rows like the example's, of any strides, ready on the current stream.

        Returns:
            A tensor of the caller's own with as many rows, ready on the current stream.

        Synchronises: no.
        """
        rows = len(x)
        if rows > self._sizes[-1]:
            return torch.cat([self(part) for part in x.split(self._sizes[-1])])
        size = self._sizes[bisect_left(self._sizes, rows)]
        graph, output = self._graphs[size]
        stream = torch.cuda.current_stream()
        stream.wait_event(self._last_call)  # all graphs use the same memory, whatever stream the last one was on
        self._input[:rows].copy_(x)
        self._input[rows:size].zero_()  # an earlier call's rows
        graph.replay()
        result = output[:rows].clone()  # the next replay, of any graph, may overwrite it
        self._last_call.record(stream)
        return result
