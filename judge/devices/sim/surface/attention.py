"""``scaled_dot_product_attention``: one kernel, as on CUDA. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # as everybody calls it

from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

Tensor = torch.Tensor
FUSED_DIMENSIONS = 4
"""The host's fused kernel takes batch, heads, length and width, CUDA's takes fewer dimensions too."""


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Let attention without a batch or heads take the fused kernel too."""
    for owner in (F, torch._C._nn):
        patches.wrap(owner, "scaled_dot_product_attention", _make)


def _make(stock: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def scaled_dot_product_attention(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, *args: Value, **kwargs: Value
    ) -> Tensor:
        missing = FUSED_DIMENSIONS - query.dim()
        if missing not in (1, 2) or not is_device(query):
            return stock(query, key, value, attn_mask, *args, **kwargs)
        if attn_mask is not None and attn_mask.dim() == query.dim():
            attn_mask = _lift(attn_mask, missing)
        result = stock(_lift(query, missing), _lift(key, missing), _lift(value, missing), attn_mask, *args, **kwargs)
        return result.view(result.shape[missing:])

    return scaled_dot_product_attention


def _lift(tensor: Tensor, count: int) -> Tensor:
    return tensor[(None,) * count]
