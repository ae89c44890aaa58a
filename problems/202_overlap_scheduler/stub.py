"""Problem 202: a decode loop one step ahead. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from torch import Tensor


class Model(Protocol):
    """What decodes: the tests bring it. Its methods queue work on the current stream, and never wait for it."""

    rows: int
    """How many requests it decodes at once."""

    def admit(self, row: int, request: object) -> None:
        """Put a request into a row, from the next step on; whatever was in the row is forgotten."""
        ...

    def step(self) -> tuple[Tensor, Tensor]:
        """Decode one token in every row.

        Returns:
            tokens, int64, and finished, bool, both of shape (rows,) and on the device: the same two tensors at each
            step, overwritten by the next. A finished row, and one that never had a request, yields tokens and flags
            that mean nothing.
        """
        ...


def decode(model: Model, requests: Iterable[object], emit: Callable[[object, int], None]) -> None:
    """Decode all requests, each until it is finished, one step ahead of what the host has read.

    Args:
        model: decodes ``model.rows`` requests at once.
        requests: in the order in which they are admitted; any objects but None.
        emit: host work: called as ``emit(request, token)`` with each token of a request, the last one included, an
            ``int``; by steps, and within a step by rows.

    Synchronises: once a step at most, for that step's results only.
    """
    # TODO: what does the host have to keep for a step that is in flight, and for how many steps at once?
    # TODO: queue a step, then bring its tokens and flags to the host. When may they be read?
    # TODO: give out a step's tokens while the next step runs. Whose are they by then?
    raise NotImplementedError
