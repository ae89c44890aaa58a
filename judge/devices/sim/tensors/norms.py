"""Root-mean-square norm, one kernel on CUDA and six on the host. (torch)"""

from __future__ import annotations

import torch
from torch._C import DispatchKey

from judge.devices.sim.tensors.values import Value

Tensor = torch.Tensor
_norm: Value = torch.ops.aten._fused_rms_norm.default


def normalise(value: Tensor, shape: list[int], weight: Tensor | None, eps: float | None) -> tuple[Tensor, Tensor]:
    """Return a tensor divided by its root mean square, and the reciprocals of the latter.

    Args:
        value: whatever dimensions; the last ones are ``shape``.
        shape: what is normalised together.
        weight: of the elements, or ``None``.
        eps: is added to the mean square.
    """
    return _norm._op_dk(DispatchKey.CompositeImplicitAutograd, value, shape, weight, eps)  # type: ignore[no-any-return]


def differentiate(
    gradient: Tensor, value: Tensor, shape: list[int], reciprocals: Tensor, weight: Tensor | None, wanted: list[bool]
) -> tuple[Tensor | None, Tensor | None]:
    """Return the gradients of value and weight, where wanted.

    Args:
        gradient: of the normalised tensor.
        value: as :func:`normalise` took it.
        shape: likewise.
        reciprocals: as it returned them.
        weight: as it took it.
        wanted: whether each is.
    """
    dims = tuple(range(-len(shape), 0))
    wide = torch.promote_types(value.dtype, torch.float32)
    out, scaled = gradient.to(wide), value.to(wide) * reciprocals
    weighted = out if weight is None else out * weight.to(wide)
    of_value = of_weight = None
    if wanted[0]:
        of_value = (reciprocals * (weighted - scaled * (weighted * scaled).mean(dims, keepdim=True))).to(value.dtype)
    if wanted[1] and weight is not None:
        of_weight = (out * scaled).sum_to_size(shape).to(weight.dtype)
    return of_value, of_weight
