"""Models whose results are exact in every dtype, and that note where they are called; batches for them."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor

WIDTH = 8
LARGEST = 3
"""Batches hold whole numbers up to 3, weights are -1, 0 or 1: no result passes 195, which bfloat16 holds exactly."""


class Call(NamedTuple):
    """How one call of the model happened."""

    rows: int
    """Rows of the batch that it was given."""
    stream: int
    """Handle of the current stream."""
    is_captured: bool


class Layers:
    """Two linear layers, plus the largest absolute value of the whole batch, as a quantized model would have a scale.

    So each row of the result tells what else lay in the batch. Rows of zeros change nothing.

    Args:
        rng: draws the weights.
        device: where they lie.
        dtype: of the weights, and of the batches.
    """

    def __init__(self, rng: Random, device: str, dtype: torch.dtype = torch.float32) -> None:
        self.first, self.second = (draw(rng, (WIDTH, WIDTH), device, dtype, largest=1) for _ in range(2))
        self.calls: list[Call] = []
        """Every call so far, in order."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output, (rows, 8), for x, (rows, 8)."""
        self.note(x)
        return torch.relu(x @ self.first) @ self.second + x.abs().amax()

    def note(self, x: Tensor) -> None:
        """Write down that it was called with x."""
        place = torch.cuda.current_stream().cuda_stream, torch.cuda.is_current_stream_capturing()
        self.calls.append(Call(len(x), *place))

    def exact(self, x: Tensor) -> Any:
        """Return what the output must hold, as nested lists of floats, from float64 on the host."""
        first, second, rows = (one.cpu().double() for one in (self.first, self.second, x))
        return (torch.relu(rows @ first) @ second + find_top(x)).tolist()


class Noting(Layers):
    """Notes on the device, at each run and each replay, how many rows it was captured with and what lay in them.

    Args:
        rng: as for :class:`Layers`.
        device: as there.
        most: rows that it has room for.
    """

    def __init__(self, rng: Random, device: str, most: int) -> None:
        super().__init__(rng, device)
        self.rows = torch.zeros(1, device=device)
        self.seen = torch.zeros(most, WIDTH, device=device)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output, (rows, 8), for x, (rows, 8)."""
        self.rows.fill_(len(x))
        self.seen[: len(x)].copy_(x)
        return super().__call__(x)


def find_top(x: Tensor) -> float:
    """Return the largest absolute value of a batch, 0 for one without rows."""
    return float(x.detach().cpu().double().abs().max()) if len(x) else 0.0


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
    return y.cpu().double().tolist()
