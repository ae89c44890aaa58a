"""The numbers of fused attention and of its gradients, dropout included. (torch)"""

from __future__ import annotations

from typing import NamedTuple

import torch

from judge.devices.sim.tensors.values import Value

Tensor = torch.Tensor
_aten = torch.ops.aten


class Attention(NamedTuple):
    """What one call attends to, in single precision or half types; query ``(batch, heads, length, width)``."""

    query: Tensor
    key: Tensor
    value: Tensor
    bias: Tensor | None = None
    """Is added to the scores; broadcasts to ``(batch, heads, length, keys)``."""
    dropout: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    """Of the scores; by default 1 / sqrt(width)."""
    seed: int = 0
    """Says which weights are dropped."""

    def attend(self) -> tuple[Tensor, Tensor]:
        """Return the output, in the query's type, and the logarithms of the sums of weights.

        The latter are ``(batch, heads, length)``, in single precision.
        """
        dtype = self.query.dtype
        wide = self._widen()
        if wide._is_plain():
            output, sums = _aten._scaled_dot_product_flash_attention_for_cpu.default(
                wide.query, wide.key, wide.value, 0.0, self.is_causal, attn_mask=wide.bias, scale=self.scale
            )
            return output.to(dtype), sums
        scores, _, value = wide._score()
        sums = scores.logsumexp(-1)
        weights = (scores - sums.unsqueeze(-1)).exp().nan_to_num(0.0)  # a row that sees nothing has no weights
        output = wide._drop(weights) @ value
        batch, heads, length, width = output.shape
        laid_out = output.new_empty(batch, length, heads, width).transpose(1, 2).copy_(output)
        return laid_out.to(dtype), sums

    def differentiate(
        self, gradient: Tensor, output: Tensor, sums: Tensor, *, is_bias_wanted: bool = False
    ) -> list[Tensor | None]:
        """Return the gradients of query, key, value and, if wanted, bias.

        Args:
            gradient: of the output.
            output: as :meth:`attend` returned it.
            sums: likewise.
            is_bias_wanted: whether the bias has a gradient.
        """
        dtype = self.query.dtype
        wide, gradient = self._widen(), gradient.float()
        if wide._is_plain() and not is_bias_wanted:
            options: Value = {"attn_mask": wide.bias, "scale": self.scale}
            found = _aten._scaled_dot_product_flash_attention_for_cpu_backward.default(
                gradient, wide.query, wide.key, wide.value, output.float(), sums, 0.0, self.is_causal, **options
            )
            return [*(part.to(dtype) for part in found), None]
        scores, key, value = wide._score()
        weights = (scores - sums.unsqueeze(-1)).exp().nan_to_num(0.0)
        of_weights = wide._drop(gradient @ value.transpose(-2, -1))
        of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdim=True))
        factor = wide._find_scale()
        of_query = of_scores @ key * factor
        of_key = _gather_heads(of_scores.transpose(-2, -1) @ wide.query * factor, wide.key)
        of_value = _gather_heads(wide._drop(weights).transpose(-2, -1) @ gradient, wide.value)
        of_bias = None
        if self.bias is not None and is_bias_wanted:
            of_bias = of_scores.sum_to_size(self.bias.shape).to(self.bias.dtype)
        return [of_query.to(dtype), of_key.to(dtype), of_value.to(dtype), of_bias]

    def _widen(self) -> Attention:
        bias = None if self.bias is None else self.bias.float()
        return self._replace(query=self.query.float(), key=self.key.float(), value=self.value.float(), bias=bias)

    def _is_plain(self) -> bool:
        """Tell whether the host has a kernel for it."""
        is_known = self.bias is None or self.bias.dim() in (2, 4)
        return is_known and not self.dropout and self.query.shape[-1] == self.value.shape[-1]

    def _find_scale(self) -> float:
        return float(self.query.shape[-1]) ** -0.5 if self.scale is None else self.scale

    def _score(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the scores, and keys and values with as many heads as the query has."""
        heads = self.query.shape[1]
        key, value = (part.repeat_interleave(heads // part.shape[1], 1) for part in (self.key, self.value))
        scores = self.query @ key.transpose(-2, -1) * self._find_scale()
        if self.is_causal:
            seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
            scores = scores.masked_fill(~seen, float("-inf"))
        return scores if self.bias is None else scores + self.bias, key, value

    def _drop(self, weights: Tensor) -> Tensor:
        if not self.dropout:
            return weights
        generator = torch.Generator().manual_seed(self.seed)
        kept = torch.rand(weights.shape, generator=generator) >= self.dropout
        return weights * kept / (1.0 - self.dropout)


def _gather_heads(gradient: Tensor, like: Tensor) -> Tensor:
    """Add up the gradients of heads that share one head of keys."""
    batch, heads, keys, width = like.shape
    return gradient.reshape(batch, heads, -1, keys, width).sum(2)
