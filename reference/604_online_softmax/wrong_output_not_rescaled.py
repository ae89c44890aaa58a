"""When the maximum grows the sum is brought to the new one, and the output is not.

Caught by: test_2_merging.py::test_two_halves_are_the_whole
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Partial(NamedTuple):
    """What some keys contribute to each query. All float32, on the device of the queries."""

    maximum: Tensor
    """(heads, queries): the largest score; -inf where no key may be attended."""
    total: Tensor
    """(heads, queries): the sum of exp(score - maximum); 0 where no key may be attended."""
    output: Tensor
    """(heads, queries, value_dim): the sum of exp(score - maximum) · value, not divided by anything; 0 likewise."""


def summarise(queries: Tensor, keys: Tensor, values: Tensor, *, scale: float, mask: Tensor | None = None) -> Partial:
    """Return what a chunk of keys contributes. *Synchronises: never.*"""
    scores = queries.float() @ keys.float().transpose(-2, -1) * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    # No keys have no maximum; the host knows a shape without asking.
    maximum = scores.amax(dim=-1) if keys.shape[1] else scores.new_full(scores.shape[:2], -torch.inf)
    weights = torch.exp(scores - _make_finite(maximum).unsqueeze(-1))
    return Partial(maximum, weights.sum(dim=-1), weights @ values.float())


def merge(first: Partial, second: Partial) -> Partial:
    """Return what two disjoint sets of keys contribute together. *Synchronises: never.*"""
    maximum = torch.maximum(first.maximum, second.maximum)
    shift = _make_finite(maximum)
    # At most 1, so nothing overflows: both sides are measured from the larger maximum now.
    ours, theirs = torch.exp(first.maximum - shift), torch.exp(second.maximum - shift)
    return Partial(
        maximum,
        first.total * ours + second.total * theirs,
        first.output + second.output,
    )


def finish(partial: Partial, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return the attention's output and the logarithm of the softmax's denominator. *Synchronises: never.*"""
    is_empty = partial.total == 0
    output = partial.output / partial.total.masked_fill(is_empty, 1.0).unsqueeze(-1)
    return output.to(dtype), partial.maximum + partial.total.log()


def attend(
    queries: Tensor, keys: Tensor, values: Tensor, *, scale: float, chunk: int, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return what :func:`finish` returns for all keys, seen chunk by chunk. *Synchronises: never.*"""
    if chunk < 1:
        raise ValueError(f"a chunk has 1 key or more, not {chunk}")
    partial = summarise(queries, keys[:, :0], values[:, :0], scale=scale)
    for start in range(0, keys.shape[1], chunk):
        part = slice(start, start + chunk)
        allowed = None if mask is None else mask[..., part]
        partial = merge(partial, summarise(queries, keys[:, part], values[:, part], scale=scale, mask=allowed))
    return finish(partial, queries.dtype)


def _make_finite(maximum: Tensor) -> Tensor:
    """Return what can be subtracted: where no key may be attended, -inf minus -inf would be NaN."""
    return maximum.masked_fill(maximum == -torch.inf, 0.0)
