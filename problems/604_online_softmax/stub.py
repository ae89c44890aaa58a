"""Problem 604: online softmax. Fill in every ``# TODO``; the rules stand in the statement."""

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
    """Return what a chunk of keys contributes.

    Args:
        queries: (heads, queries, dim), float16, bfloat16 or float32.
        keys: (heads, keys, dim), of the same type; 0 keys or more.
        values: (heads, keys, value_dim), of the same type.
        scale: a score is scale · (query · key).
        mask: bool, (queries, keys) or (heads, queries, keys): True where a key may be attended; all may if left out.

    Synchronises: never.
    """
    # TODO: in which type are scores computed? What is the maximum of no keys, and what is -inf minus -inf?
    raise NotImplementedError


def merge(first: Partial, second: Partial) -> Partial:
    """Return what two disjoint sets of keys contribute together. The two are left as they are.

    Synchronises: never.
    """
    # TODO: the two are measured from different maxima.
    raise NotImplementedError


def finish(partial: Partial, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return the attention's output and the logarithm of the softmax's denominator.

    Args:
        partial: of all keys.
        dtype: of the output.

    Returns:
        The output, (heads, queries, value_dim), of ``dtype``; and log(sum of exp(score)), (heads, queries), float32.
        Where no key may be attended: 0, and -inf.

    Synchronises: never.
    """
    # TODO
    raise NotImplementedError


def attend(
    queries: Tensor, keys: Tensor, values: Tensor, *, scale: float, chunk: int, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return what :func:`finish` returns for all keys, of which at most ``chunk`` are looked at a time.

    Args:
        queries: as for :func:`summarise`; the output has their type.
        keys: likewise.
        values: likewise.
        scale: likewise.
        chunk: most keys at a time, 1 or more; the number of keys need not be a multiple of it.
        mask: as for :func:`summarise`, for all keys.

    Raises:
        ValueError: ``chunk`` is less than 1.

    Synchronises: never.
    """
    # TODO
    raise NotImplementedError
