"""Branches whose results are exact in every dtype, and that note on which stream they run; inputs for them."""

from __future__ import annotations

from random import Random
from typing import Any

import torch
from torch import Tensor

LARGEST = 3
"""Inputs are whole numbers from -3 to 3: no number here passes 256, up to which bfloat16 holds each one."""
WARM_UPS = 3
"""Calls in which a model may set itself up, as the statement says."""


class Branch:
    """``relu(x * factor + shift)``, clamped; notes the stream of every call.

    Args:
        factor: 1 or more.
        shift: a small whole number.
    """

    def __init__(self, factor: int, shift: int) -> None:
        self._factor, self._shift = factor, shift
        self.streams: list[int] = []
        """Handle of the current stream, of each call."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the result, of x's shape and dtype; several kernels and a tensor in between."""
        if x.is_cuda:
            self.streams.append(torch.cuda.current_stream().cuda_stream)
        return torch.clamp(torch.relu(x * self._factor + self._shift), max=4)


class Settling(Branch):
    """Sets itself up in its first three calls, and waits for the device meanwhile, as libraries do."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the result; the first three calls must not be captured."""
        y = super().__call__(x)
        if x.is_cuda and len(self.streams) <= WARM_UPS:
            y.sum().item()
        return y


class Broken(Branch):
    """Raises, if it is told to."""

    is_broken = True

    def __call__(self, x: Tensor) -> Tensor:
        """Return the result, or raise."""
        y = super().__call__(x)
        if self.is_broken:
            raise LookupError("no weights for this branch")
        return y


def make_branches(count: int) -> list[Branch]:
    """Return branches, each of which computes something else."""
    return [Branch(1 + number % 3, number - 1) for number in range(count)]


def combine(*results: Tensor) -> Tensor:
    """Return a sum in which each place has a weight of its own, brought back to the range of inputs."""
    total = results[0]
    for place, result in enumerate(results[1:], 2):
        total = total + place * result
    return torch.clamp(total - 5, -LARGEST, LARGEST)


def run_plainly(branches: list[Branch], x: Tensor) -> Tensor:
    """Return what the layer must give, from float64 on the host."""
    host = x.detach().cpu().double()
    return combine(*(branch(host) for branch in branches))


def draw(rng: Random, shape: tuple[int, ...], device: str, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return a tensor of whole numbers from -3 to 3."""
    count = 1
    for size in shape:
        count *= size
    values = [rng.randint(-LARGEST, LARGEST) for _ in range(count)]
    return torch.tensor(values, dtype=dtype, device=device).reshape(shape)


def read(y: Tensor) -> Any:
    """Return values as nested lists of floats, -0.0 as 0.0; the host waits for them."""
    return (y.detach().cpu().double() + 0.0).tolist()
