"""Each chunk's output is divided by its own sum, and the quotients are added up.

Caught by: test_1_partials.py::test_a_chunk_is_summarised
Caught by: test_3_answers.py::test_chunks_of_any_length
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
    total = weights.sum(dim=-1)
    return Partial(maximum, total, weights @ values.float() / total.masked_fill(total == 0, 1.0).unsqueeze(-1))


def merge(first: Partial, second: Partial) -> Partial:
    """Return what two disjoint sets of keys contribute together. *Synchronises: never.*"""
    maximum = torch.maximum(first.maximum, second.maximum)
    shift = _make_finite(maximum)
    # At most 1, so nothing overflows: both sides are measured from the larger maximum now.
    ours, theirs = torch.exp(first.maximum - shift), torch.exp(second.maximum - shift)
    return Partial(
        maximum,
        first.total * ours + second.total * theirs,
        first.output * ours.unsqueeze(-1) + second.output * theirs.unsqueeze(-1),
    )


def finish(partial: Partial, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return the attention's output and the logarithm of the softmax's denominator. *Synchronises: never.*"""
    return partial.output.to(dtype), partial.maximum + partial.total.log()


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
