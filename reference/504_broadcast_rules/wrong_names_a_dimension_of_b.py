"""The dimension is numbered as the second operand has it, not as the longer of the two.

Caught by: test_1_shapes.py::test_what_does_not_fit_in_pytorchs_words[a_row_taken_for_a_column]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

from torch import Tensor

GRAIN_BYTES = 512  # PyTorch's allocator hands out multiples of it


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

    Raises:
        ValueError: two sizes do not fit.
    """
    return reduce(_match, [tuple(shape) for shape in shapes])


def broadcast(*layouts: Layout) -> list[Layout]:
    """Return each operand as a view of the common shape, in the same order.

    Raises:
        ValueError: as in :func:`broadcast_shapes`.
    """
    shape = broadcast_shapes(*(layout.shape for layout in layouts))
    return [_expand(layout, shape) for layout in layouts]


def result_bytes(element_bytes: int, *shapes: Sequence[int]) -> int:
    """Return by how much ``torch.cuda.memory_allocated()`` rises for the result of an elementwise operation."""
    size_bytes = prod(broadcast_shapes(*shapes)) * element_bytes
    return -(-size_bytes // GRAIN_BYTES) * GRAIN_BYTES


def is_outer(*shapes: Sequence[int]) -> bool:
    """Return whether the result has more elements than each of the operands."""
    return prod(broadcast_shapes(*shapes)) > max(prod(shape) for shape in shapes)


def check_inplace(target: Layout, *others: Layout) -> str:
    """Return what becomes of ``target.add_(other)``, or of ``target.addcmul_(first, second)``.

    Raises:
        ValueError: the operands cannot be broadcast.
    """
    overlap = _find_overlap(target, others)
    if overlap:
        return overlap
    shape = broadcast_shapes(target.shape, *(other.shape for other in others))
    return "ok" if shape == target.shape else "other shape"


def check_out(out: Layout, *operands: Layout) -> str:
    """Return what becomes of ``torch.add(first, second, out=out)``, or of another elementwise function.

    Raises:
        ValueError: the operands cannot be broadcast.
    """
    overlap = _find_overlap(out, operands)
    if overlap:
        return overlap
    shape = broadcast_shapes(*(operand.shape for operand in operands))
    return "ok" if shape == out.shape else "resized"


def guarded(op: Callable[..., Tensor], *operands: Tensor | float, outer: bool = False) -> Tensor:
    """Return ``op(*operands)``, unless the result would be larger than each operand.

    Raises:
        OuterBroadcast: a larger result is not meant; ``op`` has not been called.
        ValueError: the operands cannot be broadcast; ``op`` has not been called.

    Synchronises: never.
    """
    shapes = [tuple(operand.shape) if isinstance(operand, Tensor) else () for operand in operands]
    if is_outer(*shapes) and not outer:
        raise OuterBroadcast(f"{' and '.join(map(str, shapes))} make {broadcast_shapes(*shapes)}")
    return op(*operands)


def _match(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """Return the common shape of two, from the last dimension on: a 1 gives way, and so does what is missing."""
    count = max(len(first), len(second))
    a = (1,) * (count - len(first)) + first
    b = (1,) * (count - len(second)) + second
    for dim in reversed(range(count)):
        if a[dim] != b[dim] and 1 not in (a[dim], b[dim]):
            raise ValueError(
                f"The size of tensor a ({a[dim]}) must match the size of tensor b ({b[dim]}) "
                f"at non-singleton dimension {dim - count + len(second)}"
            )
    return tuple(two if one == 1 else one for one, two in zip(a, b, strict=True))


def _expand(layout: Layout, shape: tuple[int, ...]) -> Layout:
    """Return the view of a layout under a larger shape: what is repeated has stride 0."""
    new = len(shape) - len(layout.shape)
    steps = zip(layout.shape, shape[new:], layout.strides, strict=True)
    moved = (0,) * new + tuple(stride if size == wanted else 0 for size, wanted, stride in steps)
    return Layout(shape, moved, layout.offset, layout.storage)


def _find_overlap(target: Layout, operands: Sequence[Layout]) -> str | None:
    """Return the kind of overlap that PyTorch sees before it writes to ``target``."""
    steps = zip(target.shape, target.strides, strict=True)
    if not _is_dense(target) and any(size > 1 and stride == 0 for size, stride in steps):
        return "internal overlap"
    if any(_overlaps_in_part(target, operand) for operand in operands):
        return "partial overlap"
    return None


def _is_dense(layout: Layout) -> bool:
    """Return whether the elements fill a range of the storage, in whatever order of dimensions, each place once."""
    if 0 in layout.shape:
        return True
    expected = 1
    for stride, size in sorted(zip(layout.strides, layout.shape, strict=True)):
        if size > 1:
            if stride != expected:
                return False
            expected *= size
    return True


def _overlaps_in_part(target: Layout, other: Layout) -> bool:
    """Return whether two dense layouts meet without being one and the same; of others PyTorch doesn't ask."""
    counts = prod(target.shape), prod(other.shape)
    if target == other or target.storage != other.storage or 0 in counts:
        return False
    if not _is_dense(target) or not _is_dense(other):
        return False
    if (target.offset, counts[0]) == (other.offset, counts[1]):
        return target.strides != other.strides
    return target.offset < other.offset + counts[1] and other.offset < target.offset + counts[0]
