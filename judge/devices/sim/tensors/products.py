"""Products of half-precision matrices, convolutions and attention: summed in single precision, rounded once. (torch)

Tensor cores multiply halves and add up in single precision. The host's own half kernels take up to eighty times as long
as its single-precision ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.halves import HALVES, narrow, widen
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.oprules import Op, Rule

Tensor = torch.Tensor
_LEFT = {"mm": 0, "bmm": 0, "mv": 0, "addmm": 1, "addmv": 1, "baddbmm": 1, "addbmm": 1, "_addmm_activation": 1}
"""Where the left matrix of a product stands, by the op's name; its right one follows."""
_CONVOLUTIONS = frozenset({"convolution", "convolution_backward", "_convolution"})
_ATTENTION = "_scaled_dot_product_flash_attention_for_cpu"
_ATTENTIONS = frozenset({_ATTENTION, f"{_ATTENTION}_backward"})
NAMES = frozenset({*_LEFT, *(f"{name}_" for name in _LEFT), *_CONVOLUTIONS, *_ATTENTIONS})
"""Ops that come here, without namespace and overload."""
_WIDER = "dtype"
"""The overload of a product that names the type of its result; the host has no kernel for it."""
_FEW_ROWS = 2
"""With so many rows to multiply, widening the other matrix takes longer than the host's half kernel."""


def should_widen(rule: Rule, args: Arguments) -> bool:
    """Return whether a call multiplies halves, and widening pays. Mixed types are left to PyTorch's own error."""
    first: Tensor = args[0]
    dtype = first.dtype
    if dtype not in HALVES:
        return False
    name = rule.name
    if name in _ATTENTIONS:
        return True
    for value in args:
        if isinstance(value, Tensor) and value.is_floating_point() and value.dtype is not dtype:
            return False
    place = _LEFT.get(name.removesuffix("_"))
    if place is None or rule.overload == _WIDER:
        return True
    left, right = args[place], args[place + 1]
    if right.dim() == 1:
        return bool(left.stride(-1) != 1)
    return bool(left.shape[-2] > _FEW_ROWS or right.stride(-2) != 1)


def compute(rule: Rule, op: Op, *args: Value, **kwargs: Value) -> Value:
    """Run a product in single precision, and return, or write in place, its result in the half type.

    Raises:
        RuntimeError: an ``out=`` tensor must grow and can't, or PyTorch refuses the call.
    """
    wide = {name: widen(value) for name, value in kwargs.items()}
    if rule.overload == _WIDER:
        return _multiply_wider(op, args, wide)
    out = kwargs.get("out")
    if out is not None:
        wide["out"] = torch.empty(0)
    result = op(*(widen(value) for value in args), **wide)
    if rule.name == _ATTENTION:  # the logarithms of its sums stay as they are, on CUDA too
        return narrow(result[0], args[0].dtype), *result[1:]
    target = args[0] if rule.slots[0].is_written else out
    if target is None:
        return narrow(result, args[0].dtype)
    if target.size() != result.size():
        target.resize_(result.size())
    return torch.ops.aten.copy_.default(target, result)


def _multiply_wider(op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run a product whose result has a type of its own, ``torch.mm(a, b, out_dtype=torch.float32)``."""
    *operands, dtype = args
    plain = op.overloadpacket.default
    return narrow(plain(*(widen(value) for value in operands), **kwargs), dtype)
