"""Problem 401: run a model through a CUDA graph. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Callable

import torch  # noqa: F401
from torch import Tensor


class GraphRunner:
    """Runs a model by replaying a CUDA graph, where the input is like the example.

    Args:
        model: takes one tensor on the device and returns one; any callable.
        example: an input of the shape, dtype and device that the graph is for; the caller's, never written to.

    Raises:
        Exception: whatever the model raises in its warm-up or while it is captured.
    """

    def __init__(self, model: Callable[[Tensor], Tensor], example: Tensor) -> None:
        # TODO: what must exist before the capture, on which stream does it run, and what must be left behind?
        raise NotImplementedError

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
        # TODO: is x of the graph's kind? If so, what happens before and after the replay?
        raise NotImplementedError
