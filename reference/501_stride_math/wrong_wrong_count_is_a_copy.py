"""A shape of another number of elements is answered by None, as if a copy could have it.

Caught by: test_3_views.py::test_what_is_no_shape_is_refused[too_few_elements]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod


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

    Raises:
        IndexError: too few or too many numbers, or one that is out of range.
    """
    if len(index) != len(layout.shape):
        raise IndexError(f"{len(index)} numbers for {len(layout.shape)} dimensions")
    place = layout.offset
    for at, size, stride in zip(index, layout.shape, layout.strides, strict=True):
        if not -size <= at < size:
            raise IndexError(f"index {at} of a dimension of size {size}")
        place += at % size * stride
    return place


def is_contiguous(layout: Layout) -> bool:
    """Return whether the elements lie one behind the other, in row-major order, without a gap."""
    return 0 in layout.shape or all(run == (prod(layout.shape), 1) for run in _find_runs(layout))


def storage_size(layout: Layout) -> int:
    """Return the smallest storage that holds the layout, in elements; 0 where there is no element."""
    if 0 in layout.shape:
        return 0
    return address(layout, [size - 1 for size in layout.shape]) + 1


def has_overlap(layout: Layout) -> bool:
    """Return whether two different indices have the same address; asked of at most 10,000 elements."""
    indices = product(*(range(size) for size in layout.shape))
    return len({address(layout, index) for index in indices}) < prod(layout.shape)


def permute(layout: Layout, dims: Sequence[int]) -> Layout:
    """Return the layout with its dimensions in another order: new dimension i is old dimension ``dims[i]``.

    Raises:
        IndexError: a dimension is out of range.
        ValueError: ``dims`` does not name every dimension once.
    """
    order = [_find_dim(layout, dim) for dim in dims]
    if sorted(order) != list(range(len(layout.shape))):
        raise ValueError(f"{tuple(dims)} does not name each of {len(layout.shape)} dimensions once")
    return Layout(tuple(layout.shape[dim] for dim in order), tuple(layout.strides[dim] for dim in order), layout.offset)


def transpose(layout: Layout, first: int, second: int) -> Layout:
    """Return the layout with two dimensions exchanged.

    Raises:
        IndexError: a dimension is out of range.
    """
    order = list(range(len(layout.shape)))
    one, other = _find_dim(layout, first), _find_dim(layout, second)
    order[one], order[other] = other, one
    return permute(layout, order)


def expand(layout: Layout, shape: Sequence[int]) -> Layout:
    """Return the layout with dimensions of size 1, and new leading ones, repeated without a copy.

    Raises:
        ValueError: the sizes do not fit.
    """
    new = len(shape) - len(layout.shape)
    if new < 0 or any(size < 0 for size in shape[:new]):
        raise ValueError(f"{tuple(shape)} for {len(layout.shape)} dimensions")
    sizes = list(shape[:new])
    strides = [0] * new
    for wanted, size, stride in zip(shape[new:], layout.shape, layout.strides, strict=True):
        if wanted in (-1, size):
            sizes.append(size)
            strides.append(stride)
        elif size == 1 and wanted >= 0:
            sizes.append(wanted)
            strides.append(0)
        else:
            raise ValueError(f"a dimension of size {size} cannot become {wanted}")
    return Layout(tuple(sizes), tuple(strides), layout.offset)


def narrow(layout: Layout, dim: int, start: int, length: int) -> Layout:
    """Return the layout of ``length`` indices of one dimension, from ``start`` on.

    Raises:
        IndexError: the dimension is out of range.
        ValueError: not 0 <= start <= start + length <= size.
    """
    at = _find_dim(layout, dim)
    if not 0 <= start <= start + length <= layout.shape[at]:
        raise ValueError(f"{length} from {start} on, of a dimension of size {layout.shape[at]}")
    shape = (*layout.shape[:at], length, *layout.shape[at + 1 :])
    return Layout(shape, layout.strides, layout.offset + start * layout.strides[at])


def view(layout: Layout, shape: Sequence[int]) -> Layout | None:
    """Return the layout of the same elements, in the same order, under another shape; or None.

    Raises:
        ValueError: the shape does not have as many elements, or is none.
    """
    try:
        sizes = _infer_shape(prod(layout.shape), shape)
    except ValueError:
        return None
    if 0 in sizes:
        return Layout(sizes, _stride_densely(sizes), layout.offset)
    runs = iter(_find_runs(layout))
    strides: list[int] = []
    left, stride = 1, 1
    for size in reversed(sizes):
        if left == 1 and size > 1:
            left, stride = next(runs)
        if left % size != 0:
            return None  # the new dimension would go on beyond the end of a run
        strides.append(stride)
        left //= size
        stride *= size
    return Layout(sizes, tuple(reversed(strides)), layout.offset)


def reshape(layout: Layout, shape: Sequence[int]) -> tuple[Layout, bool]:
    """Return the layout after ``reshape``, and whether that had to copy.

    Raises:
        ValueError: as in :func:`view`.
    """
    seen = view(layout, shape)
    if seen is not None:
        return seen, False
    sizes = _infer_shape(prod(layout.shape), shape)
    return Layout(sizes, _stride_densely(sizes)), True


def flatten(layout: Layout, start: int = 0, end: int = -1) -> tuple[Layout, bool]:
    """Return the layout with dimensions ``start`` to ``end``, both included, made one; and whether that had to copy.

    Raises:
        IndexError: a dimension is out of range.
        ValueError: ``start`` lies behind ``end``.
    """
    if not layout.shape:
        return reshape(layout, (1,))
    first, last = _find_dim(layout, start), _find_dim(layout, end)
    if first > last:
        raise ValueError(f"dimension {start} lies behind {end}")
    inside = prod(layout.shape[first : last + 1])
    return reshape(layout, (*layout.shape[:first], inside, *layout.shape[last + 1 :]))


def _find_runs(layout: Layout) -> list[tuple[int, int]]:
    """Return the runs of equal steps in row-major order, innermost first, as ``(elements, stride)``.

    A dimension goes on with the run inside it where one step of it is as far as the whole run; a dimension of
    size 1 is never stepped along, and says nothing.
    """
    runs: list[tuple[int, int]] = []
    for size, stride in zip(reversed(layout.shape), reversed(layout.strides), strict=True):
        if size == 1:
            continue
        if runs and stride == runs[-1][0] * runs[-1][1]:
            runs[-1] = runs[-1][0] * size, runs[-1][1]
        else:
            runs.append((size, stride))
    return runs


def _infer_shape(count: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes, of ``count`` elements in all, with -1 replaced."""
    known = prod(size for size in shape if size != -1)
    unknown = list(shape).count(-1)
    if unknown > 1 or any(size < -1 for size in shape) or (unknown and known == 0):
        raise ValueError(f"{tuple(shape)} is no shape")
    inferred = count // known if unknown else 1
    if known * inferred != count:
        raise ValueError(f"{tuple(shape)} for {count} elements")
    return tuple(inferred if size == -1 else size for size in shape)


def _stride_densely(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * max(size, 1))
    return tuple(reversed(strides[: len(shape)]))


def _find_dim(layout: Layout, dim: int) -> int:
    """Return a dimension's number, counted from the front."""
    if not -len(layout.shape) <= dim < len(layout.shape):
        raise IndexError(f"dimension {dim} of {len(layout.shape)}")
    return dim % len(layout.shape)
