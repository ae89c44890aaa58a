"""Half-precision ops that CUDA has and the CPU lacks: computed in single precision, rounded once. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.oprules import Op, Rule

HALVES = (torch.float16, torch.bfloat16)
ONLY_ON_CUDA = frozenset({
    "avg_pool3d", "avg_pool3d_backward", "multi_margin_loss", "multi_margin_loss_backward",
    "multilabel_margin_loss_forward", "multilabel_margin_loss_backward", "rrelu_with_noise", "_upsample_bilinear2d_aa",
    "_upsample_bilinear2d_aa_backward", "native_batch_norm", "native_batch_norm_backward", "polygamma",
})  # fmt: skip
"""Ops whose half kernels only CUDA has.

Source: ``dtypes`` and ``dtypesIfCUDA`` in torch/testing/_internal/common_methods_invocations.py, torch 2.13.
"""
_TEXTS = ("not implemented for 'Half'", "not implemented for 'BFloat16'")


def is_missing(rule: Rule, text: str) -> bool:
    """Return whether an error of the CPU's kernel says that it lacks a half type that CUDA's has."""
    return rule.name in ONLY_ON_CUDA and any(part in text for part in _TEXTS)


def compute(rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run an op in single precision, and return, or write in place, its result in the half type of its arguments."""
    dtype = _find_dtype((*args, *kwargs.values()))
    result = op(*[widen(value) for value in args], **{name: widen(value) for name, value in kwargs.items()})
    written = [
        args[slot.position] if slot.position < len(args) else kwargs.get(slot.name)
        for slot in rule.slots
        if slot.is_written
    ]
    if not written:
        return narrow(result, dtype)
    for target, made in zip(written, result if isinstance(result, tuple) else (result,), strict=False):
        torch.ops.aten.copy_.default(target, made)
    return written[0] if isinstance(result, torch.Tensor) else tuple(written)


def _find_dtype(values: Value) -> torch.dtype:
    for value in values:
        if isinstance(value, torch.Tensor) and value.dtype in HALVES:
            return value.dtype
        if type(value) in (list, tuple):
            found = _find_dtype(value)
            if found is not torch.float32:
                return found
    return torch.float32


def widen(value: Value) -> Value:
    """Return halves in single precision, lists and tuples looked into; the half types themselves too."""
    if isinstance(value, torch.Tensor):
        return torch.ops.aten._to_copy.default(value, dtype=torch.float32) if value.dtype in HALVES else value
    if type(value) in (list, tuple):
        return type(value)(widen(part) for part in value)
    return torch.float32 if value in HALVES and isinstance(value, torch.dtype) else value


def narrow(value: Value, dtype: torch.dtype) -> Value:
    """Return single-precision tensors in a half type, lists and tuples looked into."""
    if isinstance(value, torch.Tensor):
        is_wide = value.dtype is torch.float32
        return torch.ops.aten._to_copy.default(value, dtype=dtype) if is_wide else value
    if type(value) in (list, tuple):
        return type(value)(narrow(part, dtype) for part in value)
    return value
