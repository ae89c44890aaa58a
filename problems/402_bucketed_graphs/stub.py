"""Problem 402: CUDA graphs for many batch sizes. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch  # noqa: F401
from torch import Tensor


class BucketedRunner:
    """Runs a model on batches of any size, by replaying the smallest CUDA graph that holds the batch.

    Args:
        model: takes a batch, (rows, …), on the device and returns as many rows; any callable.
        example: a batch of any number of rows, which shows shape, dtype and device of a row; its values don't matter.
        sizes: numbers of rows to capture a graph for, in any order, none twice; the caller's, never changed.
    """

    def __init__(self, model: Callable[[Tensor], Tensor], example: Tensor, sizes: Iterable[int]) -> None:
        # TODO: which memory do all graphs share, and in which order are they captured?
        raise NotImplementedError

    def __call__(self, x: Tensor) -> Tensor:
        """Return the model's output for the rows of ``x``.

        Args:
            x: (rows, …), rows like the example's, of any strides, ready on the current stream.

        Returns:
            A tensor of the caller's own with as many rows, ready on the current stream.

        Synchronises: no.
        """
        # TODO: which graph is it, what lies in the rows that x does not fill, and what is the result's own memory?
        raise NotImplementedError
