"""Problem 701: an operation counter. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from torch import nn

OUTSIDE = "(outside)"
"""Where an operation belongs that no module's forward runs."""

ALLOCATES_ONLY = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"})
"""ATen operations that take memory, and write nothing to it."""

OVERWRITES = frozenset({"copy_", "fill_", "zero_"})
"""ATen operations in place that do not read what they write to."""


@dataclass
class Tally:
    """What some operations come to. Given: leave it as it is.

    Args:
        kernels: operations that launch work.
        views: operations that launch nothing.
        read_bytes: read by the kernels.
        written_bytes: written by the kernels.
    """

    kernels: int = 0
    views: int = 0
    read_bytes: int = 0
    written_bytes: int = 0


class OpCounter:
    """Counts the ATen operations of a ``with`` block, those of a backward pass too.

    Args:
        model: whose modules are told apart in :attr:`by_module`; none if left out.
    """

    def __init__(self, model: nn.Module | None = None) -> None:
        self.total = Tally()
        self.by_op: dict[str, Tally] = {}
        self.by_module: dict[str, Tally] = {}
        # TODO: what sees operations, not calls? What knows which module of the model runs?
        del model

    def __enter__(self) -> Self:
        """Begin to count, or go on."""
        # TODO
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop counting, and leave nothing behind; an exception goes on to the caller."""
        # TODO
        raise NotImplementedError
