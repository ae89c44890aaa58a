"""Models that draw random numbers and note where they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

WIDTH = 8
WARM_UPS = 3
"""Calls in which a model may set itself up, as the statement says."""


class Call(NamedTuple):
    """Where one call of the model happened."""

    stream: int
    """Handle of the current stream."""
    is_captured: bool


class Model:
    """Calls a function and notes each call.

    Args:
        run: as ``run(x, *generators)``. The tests call it directly, which is not noted.
    """

    def __init__(self, run: Callable[..., Tensor]) -> None:
        self.run = run
        self.calls: list[Call] = []
        """Every call so far, in order."""

    def __call__(self, x: Tensor, *generators: torch.Generator) -> Tensor:
        """Return what ``run`` does."""
        self.calls.append(Call(torch.cuda.current_stream().cuda_stream, torch.cuda.is_current_stream_capturing()))
        return self.run(x, *generators)


def add_normal(x: Tensor, generator: torch.Generator) -> Tensor:
    """Return x with noise of a normal distribution."""
    return x + torch.randn(x.shape, device=x.device, dtype=x.dtype, generator=generator)


def draw_twice(x: Tensor, generator: torch.Generator) -> Tensor:
    """Return x times uniform numbers, plus others from the same generator."""
    scale = torch.rand(x.shape, device=x.device, dtype=x.dtype, generator=generator)
    return x * scale + torch.rand(x.shape[-1], device=x.device, dtype=x.dtype, generator=generator)


def sample(x: Tensor, generator: torch.Generator) -> Tensor:
    """Return a token for each row of logits, drawn by their softmax, as engines do it: no index leaves the device."""
    noise = torch.empty_like(x).exponential_(generator=generator)
    return (torch.softmax(x, -1) / noise).argmax(-1)


def draw_from_two(x: Tensor, first: torch.Generator, second: torch.Generator) -> Tensor:
    """Return x with noise from two generators, which draw a different number of times."""
    return draw_twice(add_normal(x, first), second)


def drop(x: Tensor, *generators: torch.Generator) -> Tensor:
    """Return x with some values left out, by the default generator; noise from each other one."""
    for generator in generators:
        x = add_normal(x, generator)
    return functional.dropout(x + 1, 0.5)


def pass_on(x: Tensor, generator: torch.Generator) -> Tensor:  # noqa: ARG001  # it draws nothing
    """Return twice x."""
    return x * 2


def find_positions(generators: Sequence[torch.Generator]) -> list[tuple[int, int]]:
    """Return seed and offset of each generator, and of the default one, which comes last."""
    return [(one.initial_seed(), one.get_offset()) for one in list_all(generators)]


def list_all(generators: Sequence[torch.Generator]) -> list[torch.Generator]:
    """Return the generators and the default one."""
    return [*generators, torch.cuda.default_generators[torch.cuda.current_device()]]


def read(y: Tensor) -> Any:
    """Return a tensor's values as nested lists of numbers; the host waits for them."""
    return y.cpu().tolist()
