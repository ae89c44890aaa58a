"""Tensors of known and of random layouts, and what PyTorch makes of them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from random import Random
from typing import Any

import torch
from torch import Tensor

Answer = dict[str, Any]


def make_tensor(shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Tensor:
    """Return a tensor of this layout, whose every value is its own address."""
    reach = offset + 1 + sum(max(size - 1, 0) * stride for size, stride in zip(shape, strides, strict=True))
    return torch.arange(reach).as_strided(shape, strides, offset)


def draw_tensor(rng: Random, most: int = 3) -> Tensor:
    """Return a tensor that came about by random views; every value is its own address.

    Args:
        rng: what to draw from.
        most: how many views to take one of the other.
    """
    shape = [rng.choice((1, 2, 2, 3, 4, 6)) for _ in range(rng.randrange(5))]
    tensor = torch.arange(prod(shape)).reshape(shape)
    for _ in range(rng.randrange(most + 1)):
        tensor = rng.choice(STEPS)(tensor, rng)
    return tensor


def _permute(tensor: Tensor, rng: Random) -> Tensor:
    return tensor.permute(rng.sample(range(tensor.dim()), tensor.dim()))


def _narrow(tensor: Tensor, rng: Random) -> Tensor:
    if 0 in tensor.shape or tensor.dim() == 0:
        return tensor
    dim = rng.randrange(tensor.dim())
    start = rng.randrange(tensor.shape[dim])
    return tensor.narrow(dim, start, rng.randrange(0 if rng.random() < 0.1 else 1, tensor.shape[dim] - start + 1))


def _skip(tensor: Tensor, rng: Random) -> Tensor:
    if tensor.dim() == 0:
        return tensor
    dim = rng.randrange(tensor.dim())
    return tensor[(slice(None),) * dim + (slice(None, None, 2),)]


def _repeat(tensor: Tensor, rng: Random) -> Tensor:
    dim = rng.randrange(tensor.dim() + 1)
    sizes = [*tensor.shape[:dim], rng.choice((1, 2, 4)), *tensor.shape[dim:]]
    return tensor.unsqueeze(dim).expand(sizes)


STEPS: tuple[Callable[[Tensor, Random], Tensor], ...] = (_permute, _permute, _narrow, _skip, _repeat)


def draw_shape(rng: Random, shape: tuple[int, ...]) -> list[int]:
    """Return another shape of as many elements: neighbours made one, dimensions cut in two, ones put in or left out."""
    sizes = [size for size in shape if size != 1 or rng.random() < 0.5]
    if len(sizes) > 1 and rng.random() < 0.6:
        at = rng.randrange(len(sizes) - 1)
        sizes[at : at + 2] = [sizes[at] * sizes[at + 1]]
    if sizes and rng.random() < 0.6:
        at = rng.randrange(len(sizes))
        factor = rng.choice([one for one in range(1, max(sizes[at], 1) + 1) if sizes[at] % one == 0])
        sizes[at : at + 1] = [factor, sizes[at] // factor]
    if rng.random() < 0.3:
        sizes.insert(rng.randrange(len(sizes) + 1), 1)
    if sizes and prod(sizes) > 0 and rng.random() < 0.2:
        sizes[rng.randrange(len(sizes))] = -1
    return sizes


def describe(shape: Any, strides: Any, offset: int) -> Answer:
    """Return a layout as plain data; ``-`` stands for what is never used.

    That is the stride of a dimension of size 1, and where there is no element, all strides and the offset.
    """
    is_empty = 0 in shape
    shown = ["-" if is_empty or size == 1 else int(stride) for size, stride in zip(shape, strides, strict=True)]
    return {"shape": [int(size) for size in shape], "strides": shown, "offset": "-" if is_empty else int(offset)}


def describe_tensor(tensor: Tensor) -> Answer:
    """Return a tensor's layout as plain data."""
    return describe(tensor.shape, tensor.stride(), tensor.storage_offset())


def _view(tensor: Tensor, shape: list[int]) -> Tensor | None:
    try:
        return tensor.view(shape)
    except RuntimeError as error:
        if "not compatible" in str(error):
            return None
        raise


TORCH: dict[str, Callable[..., Tensor | None]] = {
    "permute": Tensor.permute,
    "transpose": Tensor.transpose,
    "expand": Tensor.expand,
    "narrow": Tensor.narrow,
    "view": _view,
    "reshape": Tensor.reshape,
    "flatten": Tensor.flatten,
}


def is_copy(result: Tensor, source: Tensor) -> bool:
    """Return whether a result has storage of its own."""
    return result.untyped_storage().data_ptr() != source.untyped_storage().data_ptr()
