"""A model whose results are exact in every dtype, and that notes where it is called; inputs for it."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor

WIDTH = 8
WARM_UPS = 3
"""Calls in which a model may set itself up, as the statement says."""
LARGEST = 3
"""Inputs are whole numbers from -3 to 3, weights are -1, 0 or 1: no sum passes 192, which bfloat16 holds exactly."""


class Call(NamedTuple):
    """Where one call of the model happened."""

    stream: int
    """Handle of the current stream."""
    is_captured: bool


class Layers:
    """Two linear layers with a ReLU between them; whatever the order of its sums, the bits are the same.

    Args:
        rng: draws the weights.
        device: where they lie.
        dtype: of the weights, and of the inputs.
    """

    def __init__(self, rng: Random, device: str, dtype: torch.dtype = torch.float32) -> None:
        self.first, self.second = (draw(rng, (WIDTH, WIDTH), device, dtype, largest=1) for _ in range(2))
        self.calls: list[Call] = []
        """Every call so far, in order."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output, (…, 8), for x, (…, 8)."""
        self.calls.append(Call(torch.cuda.current_stream().cuda_stream, torch.cuda.is_current_stream_capturing()))
        return torch.relu(x @ self.first) @ self.second

    def exact(self, x: Tensor) -> Any:
        """Return what the output must hold, as nested lists of floats, from float64 on the host."""
        first, second, rows = (one.detach().cpu().double() for one in (self.first, self.second, x))
        return (torch.relu(rows @ first) @ second).tolist()


def draw(
    rng: Random, shape: tuple[int, ...], device: str, dtype: torch.dtype = torch.float32, largest: int = LARGEST
) -> Tensor:
    """Return a tensor of whole numbers from -largest to largest."""
    count = 1
    for size in shape:
        count *= size
    values = [rng.randint(-largest, largest) for _ in range(count)]
    return torch.tensor(values, dtype=dtype, device=device).reshape(shape)


def read(y: Tensor) -> Any:
    """Return a tensor's values as nested lists of floats; the host waits for them."""
    return y.detach().cpu().double().tolist()
