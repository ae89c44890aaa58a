"""Problem 404: random numbers in a CUDA graph. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


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
        # TODO: which generators does the graph have to know, and what do warm-up calls do to them?
        raise NotImplementedError

    def __call__(self, x: Tensor) -> Tensor:
        """Return what ``model(x, *generators)`` would return now, and leave the generators where it would.

        Args:
            x: an input of the example's shape and dtype, ready on the current stream.

        Returns:
            A tensor of the caller's own.

        Synchronises: no.
        """
        # TODO: what happens before and after the replay, and what need not happen?
        raise NotImplementedError
