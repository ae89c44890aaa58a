"""Chunks on the host, what compute makes of them, and how tensors are written down."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor

MIB = 1 << 20
SLEEP_CYCLES = 2_000_000
"""Some 1 ms of a GPU: long enough that a missing order shows in the numbers on a real one, too."""

Arithmetic = Callable[[Tensor], Tensor]


def draw_chunk(rng: Random, *shape: int, dtype: torch.dtype = torch.float32, pinned: bool = False) -> Tensor:
    """Return small whole numbers, which every dtype holds exactly.

    Args:
        rng: the test's.
        shape: of the chunk.
        dtype: of the chunk.
        pinned: whether it lies in pinned memory.
    """
    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    chunk = torch.randint(0, 2 if dtype is torch.bool else 32, shape, generator=generator).to(dtype)
    return chunk.pin_memory() if pinned else chunk


def fill_chunks(count: int, size_bytes: int, rng: Random, *, pinned: bool = True) -> list[Tensor]:
    """Return large chunks, each of one value of its own."""
    values = rng.sample(range(1, 100), count)
    return [torch.full((size_bytes // 4,), float(value), pin_memory=pinned) for value in values]


def double(x: Tensor) -> Tensor:
    """Return a new tensor of the same shape and dtype."""
    return x + x


def sleepy(arithmetic: Arithmetic, cycles: int = SLEEP_CYCLES) -> Arithmetic:
    """Return ``arithmetic`` behind a kernel that takes its time."""

    def compute(x: Tensor) -> Tensor:
        torch.cuda._sleep(cycles)
        return arithmetic(x)

    return compute


def write_down(tensor: Tensor) -> dict[str, Any]:
    """Return shape, dtype and values as plain data; of more than 256 values the sum and both ends."""
    flat = tensor.detach().reshape(-1)
    flat = torch.view_as_real(flat).reshape(-1) if flat.is_complex() else flat
    values = flat.to(torch.float64)
    shown = values if len(values) <= 256 else torch.cat([values[:8], values[-8:], values.sum().view(1)])
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype), "values": shown.tolist()}
