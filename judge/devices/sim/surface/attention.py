"""``scaled_dot_product_attention``: the kernel that CUDA would choose. (torch)"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F  # as everybody calls it

from judge.devices.sim.surface.autocast import cast, outside
from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

Tensor = torch.Tensor
_C: Any = torch._C
_aten = torch.ops.aten
MATH, FLASH, EFFICIENT, CUDNN = range(4)
"""As ``torch.nn.attention.SDPBackend`` numbers them."""
_STOCK_ORDER = [FLASH, EFFICIENT, MATH, CUDNN]
_HOPPER_ORDER = [CUDNN, FLASH, EFFICIENT, MATH]
_HALVES = (torch.float16, torch.bfloat16)
_WIDEST = 256
"""The widest head of flash attention, and of cuDNN's on sm_90."""
_DIMENSIONS = 4


class Call(NamedTuple):
    """One call's operands."""

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    dropout: float
    is_causal: bool
    scale: float | None
    is_grouped: bool

    @property
    def is_trained(self) -> bool:
        """Whether gradients will be wanted."""
        return torch.is_grad_enabled() and any(part.requires_grad for part in self[:3])

    def is_fusible(self) -> bool:
        """Return whether a fused kernel could take it at all."""
        parts = self[:3]
        query, key, value = (part.shape for part in parts)
        return (
            all(part.dim() == _DIMENSIONS for part in parts)
            and query[0] == key[0] == value[0]
            and all(size > 0 for part in parts for size in part.shape)
            and all(part.stride(-1) == 1 or part.shape[-1] == 1 for part in parts)
        )

    def has_equal_heads(self) -> bool:
        """Return whether no heads of the query share one of the keys."""
        return bool(self.query.shape[1] == self.key.shape[1] == self.value.shape[1])

    def can_flash(self) -> bool:
        """Return whether flash attention takes it."""
        query, key, value = (part.shape for part in self[:3])
        return (
            _C._get_flash_sdp_enabled()
            and self.mask is None
            and self.query.dtype in _HALVES
            and query[-1] == key[-1] == value[-1] <= _WIDEST
            and not (self.is_causal and query[-2] != key[-2])
            and (self.has_equal_heads() or self.is_grouped)
        )

    def can_be_efficient(self) -> bool:
        """Return whether the memory-efficient kernel takes it."""
        query, key, value = (part.shape for part in self[:3])
        alignment = 16 // self.query.element_size()
        return (
            _C._get_mem_efficient_sdp_enabled()
            and self.query.dtype in (*_HALVES, torch.float32)
            and query[-1] == key[-1]
            and query[-1] % alignment == value[-1] % alignment == 0
            and self.has_equal_heads()
        )

    def can_cudnn(self) -> bool:
        """Return whether cuDNN takes it."""
        query, key, value = (part.shape for part in self[:3])
        return (
            _C._get_cudnn_sdp_enabled()
            and self.query.dtype in _HALVES
            and max(query[-1], value[-1]) <= _WIDEST
            and query[-1] % 8 == value[-1] % 8 == 0
            and key[-2] > 1
            and not (query[-2] == 1 and self.dropout)
            and (self.has_equal_heads() or self.is_grouped)
            and not (self.mask is not None and self.mask.requires_grad)
            and not (torch.are_deterministic_algorithms_enabled() and not _C._get_deterministic_algorithms_warn_only())
        )


def choose(call: Call) -> int:
    """Return the kernel that CUDA takes on sm_90.

    Raises:
        RuntimeError: the kernels that are switched on can't do it; PyTorch's text.

    Source: ``select_sdp_backend`` and ``check_prefer_cudnn_attention``,
    aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, torch 2.13 with cuDNN 9.16 and later.
    """
    order: Sequence[int] = [kind for kind in _C._get_sdp_priority_order() if kind in _STOCK_ORDER]
    if order == _STOCK_ORDER and not os.environ.get("TORCH_CUDNN_SDPA_DEPRIORITIZED"):
        order = _HOPPER_ORDER
    is_fusible = call.is_fusible()
    for kind in order:
        if kind == MATH:
            if _C._get_math_sdp_enabled():
                return MATH
        elif is_fusible and _ASKED[kind](call):
            return kind
    raise RuntimeError("No available kernel. Aborting execution.")


_ASKED = {FLASH: Call.can_flash, EFFICIENT: Call.can_be_efficient, CUDNN: Call.can_cudnn}


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Let attention on the device take CUDA's kernels."""
    for owner in (F, torch._C._nn):
        patches.wrap(owner, "scaled_dot_product_attention", _make)


def _make(stock: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def scaled_dot_product_attention(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        tensors = query, key, value, attn_mask
        if not is_device(query) or query.is_nested:
            return stock(*tensors, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        if not torch.is_autocast_enabled("cuda"):
            return _attend(Call(*tensors, dropout_p, is_causal, scale, enable_gqa))
        with outside():
            lower = [cast(tensor, torch.get_autocast_dtype("cuda")) for tensor in tensors]
            query, key, value, attn_mask = lower
            return _attend(Call(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa))

    return scaled_dot_product_attention


def _attend(call: Call) -> Tensor:
    kind = choose(call)
    query, key, value, mask, dropout, is_causal, scale, is_grouped = call
    if mask is not None and mask.dtype == torch.bool:
        mask = torch.where(mask, 0.0, torch.full((), float("-inf"), dtype=query.dtype, device=query.device))
    if kind == MATH:
        rest: Value = {"scale": scale, "enable_gqa": is_grouped}
        plain: Value = _aten._scaled_dot_product_attention_math.default
        result: Tensor = plain(query, key, value, mask, dropout, is_causal, None, **rest)[0]
        return result
    if kind == FLASH:
        return _flash(query, key, value, dropout, is_causal, scale)
    op: Value = (
        _aten._scaled_dot_product_cudnn_attention if kind == CUDNN else _aten._scaled_dot_product_efficient_attention
    )
    made: Tensor = op.default(query, key, value, mask, call.is_trained, dropout, is_causal, scale=scale)[0]
    return made


def _flash(query: Tensor, key: Tensor, value: Tensor, dropout: float, is_causal: bool, scale: float | None) -> Tensor:
    """Run flash attention, whose heads are filled up to a multiple of 8."""
    width = query.shape[-1]
    missing = -width % 8
    if missing:
        scale = width**-0.5 if scale is None else scale
        query, key, value = (F.pad(part, (0, missing)) for part in (query, key, value))
    op: Value = _aten._scaled_dot_product_flash_attention.default
    made: Tensor = op(query, key, value, dropout, is_causal, scale=scale)[0]
    return made[..., :width] if missing else made
