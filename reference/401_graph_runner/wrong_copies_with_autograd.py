"""The input is copied with autograd on, which then remembers every input that requires gradients.

Caught by: test_5_memory.py::test_calls_take_no_more_memory[input_requires_grad]
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import torch
from torch import Tensor

WARM_UPS = 3


class GraphRunner:
    """Runs a model by replaying a CUDA graph, where the input is like the example.

    Args:
        model: takes one tensor on the device and returns one; any callable.
        example: an input of the shape, dtype and device that the graph is for; the caller's, never written to.

    Raises:
        Exception: whatever the model raises in its warm-up or while it is captured.
    """

    @torch.no_grad()
    def __init__(self, model: Callable[[Tensor], Tensor], example: Tensor) -> None:
        self._model = model
        self._input = example.detach().clone()
        self._graph = torch.cuda.CUDAGraph()
        caller, side = torch.cuda.current_stream(), torch.cuda.Stream()
        side.wait_stream(caller)  # the example may still be in the making
        with torch.cuda.stream(side):
            for _ in range(WARM_UPS):
                model(self._input)
            self._output = self._capture()
        caller.wait_stream(side)  # the warm-up reads the input that the first call will overwrite
        self._last_call = caller.record_event()

    def _capture(self) -> Tensor:
        """Capture the model on the current stream; return the tensor that every replay writes to."""
        self._graph.capture_begin()
        try:
            output = self._model(self._input)
        except BaseException:
            with suppress(RuntimeError):  # what the end complains of would hide the model's own error
                self._graph.capture_end()
            raise
        self._graph.capture_end()
        return output

    def __call__(self, x: Tensor) -> Tensor:
        """Return the model's output for ``x``.

        Args:
            x: an input, of any strides, ready on the current stream.

        Returns:
            A tensor of the caller's own, ready on the current stream, without autograd.

        Raises:
            TypeError: ``x`` is no tensor.
            ValueError: ``x`` is on another device than the example.

        Synchronises: no.
        """
        if not isinstance(x, Tensor):
            raise TypeError(f"x must be a tensor, not {type(x).__name__}")
        if x.device != self._input.device:
            raise ValueError(f"x is on {x.device}, the graph on {self._input.device}")
        if x.shape != self._input.shape or x.dtype != self._input.dtype:
            with torch.no_grad():
                return self._model(x)
        stream = torch.cuda.current_stream()
        stream.wait_event(self._last_call)  # it may have come from another stream, and used the same memory
        self._input.record_stream(stream)  # nobody else gets that memory while this call is queued
        self._input.copy_(x)
        self._graph.replay()
        result = self._output.clone()  # the next replay overwrites the graph's own
        self._last_call.record(stream)
        return result
