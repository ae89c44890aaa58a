"""Problem 405: fork and join inside a capture. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor


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
        # TODO: what is made once, not in each call?
        raise NotImplementedError

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
        # TODO: fork: what must a side stream wait for?
        # TODO: run the branches. Which memory is used on two streams, and when may it be lent again?
        # TODO: join: who waits for whom, before what, and what if a branch raises?
        raise NotImplementedError


def capture(model: Callable[[Tensor], Tensor], example: Tensor) -> Captured:
    """Return a model as a graph, forks and joins included.

    Args:
        model: takes and returns one tensor on the device; it may be, or call, any number of :class:`ForkJoin`.
        example: an input of the shape and dtype that the graph is for, ready on the current stream; never written to.

    Synchronises: yes.
    """
    # TODO: three calls of the model first. On which stream, and which order does that want?
    # TODO: then the capture.
    raise NotImplementedError
