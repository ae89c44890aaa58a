"""The graph is told of no generator: it knows only the default one.

Caught by: test_1_draws.py::test_replays_draw_what_the_model_draws[normal]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

WARM_UPS = 3


class SeededRunner:
    """Replays a model that draws random numbers: each call draws what the model itself would draw then.

    Args:
        model: called as ``model(x, *generators)``; takes a tensor on the device and returns one there.
        example: an input of the shape, dtype and device that the graph is for; the caller's, never written to.
        generators: generators of the device that the model draws from, beside the default one; the caller's.

    Raises:
        Exception: what the model raises in its warm-up; all generators are as before.
    """

    def __init__(
        self, model: Callable[..., Tensor], example: Tensor, generators: Sequence[torch.Generator] = ()
    ) -> None:
        self._input = example.clone()
        self._graph = torch.cuda.CUDAGraph()
        side = torch.cuda.Stream()
        default = torch.cuda.default_generators[example.device.index]
        states = [(generator, generator.get_state()) for generator in (default, *generators)]
        side.wait_stream(torch.cuda.current_stream())  # the example may still be in the making
        try:
            with torch.cuda.stream(side):
                for _ in range(WARM_UPS):
                    model(self._input, *generators)
        finally:  # the warm-up has drawn; a capture doesn't
            for generator, state in states:
                generator.set_state(state)
        with torch.cuda.graph(self._graph, stream=side):  # waits for the device first: the warm-up is over
            self._output = model(self._input, *generators)

    def __call__(self, x: Tensor) -> Tensor:
        """Return what ``model(x, *generators)`` would return now, and leave the generators where it would.

        Args:
            x: an input of the example's shape and dtype, ready on the current stream.

        Returns:
            A tensor of the caller's own.

        Synchronises: no.
        """
        self._input.copy_(x)
        self._graph.replay()  # takes seed and offset from each generator, and moves its offset on
        return self._output.clone()
