"""Problem 504: broadcasting. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor


class OuterBroadcast(ValueError):
    """A result would be larger than each of its operands. Given: leave it as it is."""


@dataclass(frozen=True)
class Layout:
    """Where a tensor's elements lie. Given: leave it as it is.

    Args:
        shape: size of each dimension, 0 or more.
        strides: for each dimension, how many elements of the storage lie between one index and the next, 0 or more.
        offset: where the first element lies, in elements of the storage.
        storage: which storage; layouts with the same number share one.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    storage: int = 0


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of an elementwise result.

    Args:
        shapes: of the operands, one or more.

    Raises:
        ValueError: two sizes do not fit; in PyTorch's words, see the statement.
    """
    # TODO: from which end are dimensions matched? What does a missing one count as?
    raise NotImplementedError


def broadcast(*layouts: Layout) -> list[Layout]:
    """Return each operand as a view of the common shape, in the same order.

    Raises:
        ValueError: as in :func:`broadcast_shapes`.
    """
    # TODO: no element moves, nothing is copied. Which strides say so?
    raise NotImplementedError


def result_bytes(element_bytes: int, *shapes: Sequence[int]) -> int:
    """Return by how much ``torch.cuda.memory_allocated()`` rises for the result of an elementwise operation.

    Args:
        element_bytes: size of the result's elements.
        shapes: of the operands.

    Returns:
        Bytes, in whole blocks of 512; 0 where there is no element.
    """
    # TODO
    raise NotImplementedError


def is_outer(*shapes: Sequence[int]) -> bool:
    """Return whether the result has more elements than each of the operands."""
    # TODO
    raise NotImplementedError


def check_inplace(target: Layout, *others: Layout) -> str:
    """Return what becomes of ``target.add_(other)``, or of ``target.addcmul_(first, second)``.

    Returns:
        ``"ok"``, ``"internal overlap"``, ``"partial overlap"`` or ``"other shape"``.

    Raises:
        ValueError: the operands cannot be broadcast.
    """
    # TODO: the first rule of the statement that applies decides.
    raise NotImplementedError


def check_out(out: Layout, *operands: Layout) -> str:
    """Return what becomes of ``torch.add(first, second, out=out)``, or of another elementwise function.

    Returns:
        ``"ok"``, ``"internal overlap"``, ``"partial overlap"`` or ``"resized"``.

    Raises:
        ValueError: the operands cannot be broadcast.
    """
    # TODO: what is different from writing in place?
    raise NotImplementedError


def guarded(op: Callable[..., Tensor], *operands: Tensor | float, outer: bool = False) -> Tensor:
    """Return ``op(*operands)``, unless the result would be larger than each operand.

    Args:
        op: an elementwise function, as ``torch.sub``.
        operands: tensors of any shape and device, and Python numbers.
        outer: whether a larger result is meant.

    Raises:
        OuterBroadcast: a larger result is not meant; ``op`` has not been called.
        ValueError: the operands cannot be broadcast; ``op`` has not been called.

    Synchronises: never.
    """
    # TODO
    raise NotImplementedError
