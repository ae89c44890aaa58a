"""Problem 501: view or copy. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """Where a tensor's elements lie in its storage. Given: leave it as it is.

    Args:
        shape: size of each dimension, 0 or more.
        strides: for each dimension, how many elements of the storage lie between one index and the next, 0 or more.
        offset: where the first element lies, in elements of the storage.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0


def address(layout: Layout, index: Sequence[int]) -> int:
    """Return where the element at ``index`` lies, in elements from the start of the storage.

    Args:
        layout: of the tensor.
        index: one number a dimension; a negative one counts from the end.

    Raises:
        IndexError: too few or too many numbers, or one that is out of range.
    """
    # TODO
    raise NotImplementedError


def is_contiguous(layout: Layout) -> bool:
    """Return whether the elements lie one behind the other, in row-major order, without a gap."""
    # TODO: which strides make no difference?
    raise NotImplementedError


def storage_size(layout: Layout) -> int:
    """Return the smallest storage that holds the layout, in elements; 0 where there is no element."""
    # TODO
    raise NotImplementedError


def has_overlap(layout: Layout) -> bool:
    """Return whether two different indices have the same address; asked of at most 10,000 elements."""
    # TODO: a stride of 0 is one way to overlap. Are there others?
    raise NotImplementedError


def permute(layout: Layout, dims: Sequence[int]) -> Layout:
    """Return the layout with its dimensions in another order: new dimension i is old dimension ``dims[i]``.

    Raises:
        IndexError: a dimension is out of range.
        ValueError: ``dims`` does not name every dimension once.
    """
    # TODO
    raise NotImplementedError


def transpose(layout: Layout, first: int, second: int) -> Layout:
    """Return the layout with two dimensions exchanged.

    Raises:
        IndexError: a dimension is out of range.
    """
    # TODO
    raise NotImplementedError


def expand(layout: Layout, shape: Sequence[int]) -> Layout:
    """Return the layout with dimensions of size 1, and new leading ones, repeated without a copy.

    Args:
        layout: to expand.
        shape: as many sizes as dimensions, or more, then the first ones are new; -1 keeps an old dimension's size.

    Raises:
        ValueError: fewer sizes than dimensions, another size for a dimension that is not 1, a negative size other
            than -1, or -1 for a new dimension.
    """
    # TODO
    raise NotImplementedError


def narrow(layout: Layout, dim: int, start: int, length: int) -> Layout:
    """Return the layout of ``length`` indices of one dimension, from ``start`` on.

    Raises:
        IndexError: the dimension is out of range.
        ValueError: not 0 <= start <= start + length <= size.
    """
    # TODO
    raise NotImplementedError


def view(layout: Layout, shape: Sequence[int]) -> Layout | None:
    """Return the layout of the same elements, in the same order, under another shape; or None.

    Args:
        layout: to look at.
        shape: new sizes; one of them may be -1, and is then inferred.

    Returns:
        A layout of the same storage, or None where no strides can do it and only a copy can.

    Raises:
        ValueError: the shape does not have as many elements, has two -1 or another negative size, or has a -1 that
            could be any number.
    """
    # TODO: the shape first: is it one at all?
    # TODO: which neighbours among the old dimensions are one run of equal steps? Where may a new one begin and end?
    raise NotImplementedError


def reshape(layout: Layout, shape: Sequence[int]) -> tuple[Layout, bool]:
    """Return the layout after ``reshape``, and whether that had to copy.

    Returns:
        ``(layout, is_copy)``: a view wherever there is one; else a contiguous layout at offset 0 of new storage.

    Raises:
        ValueError: as in :func:`view`.
    """
    # TODO
    raise NotImplementedError


def flatten(layout: Layout, start: int = 0, end: int = -1) -> tuple[Layout, bool]:
    """Return the layout with dimensions ``start`` to ``end``, both included, made one; and whether that had to copy.

    A layout without dimensions gets one, of size 1.

    Raises:
        IndexError: a dimension is out of range.
        ValueError: ``start`` lies behind ``end``.
    """
    # TODO
    raise NotImplementedError
