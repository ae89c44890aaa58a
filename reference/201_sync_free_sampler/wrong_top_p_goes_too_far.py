"""Off by one: the token behind the one that reaches top_p stays, too.

Caught by: test_2_filters.py::test_top_p_keeps_the_token_that_reaches_it[p0.5]
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Batch:
    """The rows of one decode step. Given: leave it as it is.

    Every field is a tensor of shape (rows,) on the device of the logits. ``position`` and ``finished`` are
    state, which ``sample`` changes in place; it only reads the others.
    """

    temperature: Tensor
    """float32: 0 for a greedy row, else 0.01 or more."""
    top_k: Tensor
    """int64: most tokens that stay; 0: all of them. It may be larger than the vocabulary."""
    top_p: Tensor
    """float32, above 0 and up to 1: probability that has to stay; 1: all of it."""
    min_p: Tensor
    """float32, 0 to 1: least probability, as a share of the best token's; 0: none."""
    seed: Tensor
    """int64: the request's seed, any value."""
    eos: Tensor
    """int64: the token that ends the row; -1: none does."""
    position: Tensor
    """int64, state: how many tokens have been drawn for the row."""
    finished: Tensor
    """bool, state: whether the row has ended."""


def exponential_noise(seed: Tensor, position: Tensor, vocabulary: int) -> Tensor:
    """Return noise that depends on nothing but seed, position and token. Given: leave it as it is.

    Args:
        seed: int64, shape (rows,).
        position: int64, shape (rows,).
        vocabulary: number of tokens.

    Returns:
        float32, shape (rows, vocabulary), on the device of ``seed``: from the exponential distribution of
        mean 1, never 0 and never infinite.

    *Synchronises: no.* Source: SplitMix64, of which this is output number ``position * 2**32 + token``,
    with the scrambled seed as its start.
    """
    start = _mix(seed + _GAMMA)
    token = torch.arange(1, vocabulary + 1, device=seed.device)
    number = (position << 32).unsqueeze(1) + token
    bits = _mix(number.mul_(_GAMMA).add_(start.unsqueeze(1)))
    # 23 bits and a half: exact in float32, and neither 0 nor 1, where a logarithm would end.
    uniform = bits.bitwise_right_shift_(41).bitwise_and_(0x7FFFFF).float().add_(0.5).mul_(2.0**-23)
    return uniform.log_().neg_()


_GAMMA = 0x9E3779B97F4A7C15 - (1 << 64)
_FIRST = 0xBF58476D1CE4E5B9 - (1 << 64)
_SECOND = 0x94D049BB133111EB - (1 << 64)


def _mix(word: Tensor) -> Tensor:
    """Scramble 64-bit words in place, and return them; products wrap around."""
    word ^= (word >> 30).bitwise_and_(0x3FFFFFFFF)
    word *= _FIRST
    word ^= (word >> 27).bitwise_and_(0x1FFFFFFFFF)
    word *= _SECOND
    word ^= (word >> 31).bitwise_and_(0x1FFFFFFFF)
    return word


def allowed_tokens(logits: Tensor, batch: Batch) -> Tensor:
    """Return which tokens each row may draw, by rules 1 to 5.

    Args:
        logits: float32, float16 or bfloat16, shape (rows, vocabulary), of any strides. Not changed.
        batch: parameters of the rows. Not changed.

    Returns:
        bool, shape (rows, vocabulary), on the device of ``logits``.

    *Synchronises: no.*
    """
    vocabulary = logits.shape[1]
    # A stable sort leaves equal logits in the order of their tokens.
    ordered, tokens = logits.float().sort(dim=1, descending=True, stable=True)
    top_k = torch.where(batch.top_k == 0, vocabulary, batch.top_k)
    top_k = torch.where(batch.temperature == 0, 1, top_k)
    rank = torch.arange(vocabulary, device=logits.device)
    kept = (rank < top_k.unsqueeze(1)) & (ordered > -torch.inf)
    # Measured from the best, no logit overflows but towards minus infinity, where its probability is 0 anyway.
    scaled = torch.where(kept, (ordered - ordered[:, :1]) / _divisor(batch), -torch.inf)
    probability = scaled.softmax(dim=1)
    before = probability.cumsum(dim=1) - probability
    top_p = batch.top_p.unsqueeze(1)
    kept &= (before <= top_p) | (top_p == 1)
    kept &= probability >= probability[:, :1] * batch.min_p.unsqueeze(1)
    return torch.empty_like(kept).scatter_(1, tokens, kept)


def sample(logits: Tensor, batch: Batch, pad: int) -> Tensor:
    """Draw one token for each row, by rules 6 to 8, and bring ``position`` and ``finished`` up to date.

    Args:
        logits: float32, float16 or bfloat16, shape (rows, vocabulary), of any strides. Not changed.
        batch: parameters and state of the rows. ``position`` and ``finished`` are changed in place.
        pad: what a row gets that draws no token.

    Returns:
        int64, shape (rows,), on the device of ``logits``: a new tensor.

    *Synchronises: no.*
    """
    allowed = allowed_tokens(logits, batch)
    # The largest p / q is the largest log p - log q, and log p is the scaled logit up to a constant of the row.
    values = logits.float()
    race = (values - values.amax(dim=1, keepdim=True)) / _divisor(batch)
    race -= exponential_noise(batch.seed, batch.position, logits.shape[1]).log_()
    winner = torch.where(allowed, race, -torch.inf).argmax(dim=1)
    draws = allowed.any(dim=1) & ~batch.finished
    tokens = torch.where(draws, winner, pad)
    batch.position += draws
    batch.finished |= ~draws | (tokens == batch.eos)
    return tokens


def _divisor(batch: Batch) -> Tensor:
    """Return what each row's logits are divided by, shape (rows, 1); a greedy row keeps its own."""
    return torch.where(batch.temperature == 0, 1.0, batch.temperature).unsqueeze(1)
