"""Batches on the host, what the consumer makes of them, and how tensors are written down."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor

Batch = Tensor | dict[str, Tensor]

MIB = 1 << 20
SLEEP_CYCLES = 2_000_000
"""Some 1 ms of a GPU: long enough that a missing order shows in the numbers on a real one, too."""


def draw_tensor(rng: Random, *shape: int, dtype: torch.dtype = torch.float32, pinned: bool = True) -> Tensor:
    """Return small whole numbers, which every dtype holds exactly.

    Args:
        rng: the test's.
        shape: of the tensor.
        dtype: of the tensor.
        pinned: whether it lies in pinned memory.
    """
    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    tensor = torch.randint(0, 2 if dtype is torch.bool else 32, shape, generator=generator).to(dtype)
    return tensor.pin_memory() if pinned else tensor


def fill_batches(count: int, size_bytes: int, rng: Random, *, pinned: bool = True) -> list[Batch]:
    """Return large batches, each of one value of its own."""
    values = rng.sample(range(1, 100), count)
    return [torch.full((size_bytes // 4,), float(value), pin_memory=pinned) for value in values]


def name_tensors(batch: Batch) -> dict[str, Tensor]:
    """Return a batch's tensors by the names under which a learner knows them."""
    if isinstance(batch, dict):
        return {f"batch[{name!r}]": tensor for name, tensor in batch.items()}
    return {"batch": batch}


def map_batch(batch: Batch, change: Callable[[Tensor], Tensor]) -> Batch:
    """Return a batch of the same form with each tensor changed."""
    if isinstance(batch, dict):
        return {name: change(tensor) for name, tensor in batch.items()}
    return change(batch)


def double(x: Tensor) -> Tensor:
    """Return the consumer's step: a new tensor of the same shape and dtype."""
    return x + x


def write_down(batch: Batch) -> dict[str, Any]:
    """Return shape, dtype and values as plain data; of more than 256 values the sum and both ends."""
    return {name: _write_tensor(tensor) for name, tensor in name_tensors(batch).items()}


def _write_tensor(tensor: Tensor) -> dict[str, Any]:
    flat = tensor.detach().cpu().reshape(-1)
    flat = torch.view_as_real(flat).reshape(-1) if flat.is_complex() else flat
    values = flat.to(torch.float64)
    shown = values if len(values) <= 256 else torch.cat([values[:8], values[-8:], values.sum().view(1)])
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype), "values": shown.tolist()}
