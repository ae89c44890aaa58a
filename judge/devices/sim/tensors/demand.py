"""What an op demands of the device beside memory traffic: arithmetic, and rows to work through. (torch)"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

from torch.utils.flop_counter import flop_registry

from judge.devices.sim.cost import Matrices
from judge.devices.sim.tensors.values import Arguments, Keywords, Value


class Demand(NamedTuple):
    """One call's demand."""

    flops: float = 0.0
    row: int = 0
    """Elements that are worked through one after the other: of a reduction, a norm, a scan or a sort; 0 for all."""
    matrices: Matrices | None = None


NOTHING = Demand()
Assess = Callable[[Arguments, Keywords, Any], Demand]
"""Of the op's arguments and its result."""


def _matrices(first: int) -> Assess:
    """A product of matrices, alone or in a batch; ``first`` is the position of the left one."""

    def assess(args: Arguments, _: Keywords, __: Value) -> Demand:
        left, right = args[first].shape, args[first + 1].shape
        n = right[-1] if len(right) > 1 else 1
        batch = left[0] if len(left) == 3 else 1
        return Demand(2.0 * prod(left) * n, 0, Matrices(batch, left[-2], n, left[-1]))

    return assess


def _attention(first: int, factor: float) -> Assess:
    """Two products of matrices forward; five of the same shape backward."""

    def assess(args: Arguments, _: Keywords, __: Value) -> Demand:
        query, key = args[first], args[first + 1]
        return Demand(4.0 * factor * prod(query.shape) * key.shape[-2])

    return assess


def _row(args: Arguments, _: Keywords, __: Value) -> Demand:
    """The second argument is the dimension, or a list of them."""
    shape = args[0].shape
    dims = args[1] if len(args) > 1 else None
    if not len(shape) or dims is None or isinstance(dims, bool):
        return NOTHING
    if isinstance(dims, int):
        return Demand(0.0, shape[dims])
    return Demand(0.0, prod(shape[dim] for dim in dims))


def _last_row(args: Arguments, _: Keywords, __: Value) -> Demand:
    shape = args[0].shape
    return Demand(0.0, shape[-1] if len(shape) else 0)


def _normalised(args: Arguments, _: Keywords, __: Value) -> Demand:
    return Demand(0.0, prod(args[1]))


_OWN: dict[str, Assess] = {
    "mm": _matrices(0),
    "bmm": _matrices(0),
    "mv": _matrices(0),
    "addmm": _matrices(1),
    "baddbmm": _matrices(1),
    "addmv": _matrices(1),
    "_scaled_dot_product_flash_attention_for_cpu": _attention(0, 1.0),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention(1, 2.5),
    **{
        f"_scaled_dot_product_{kind}_attention{direction}": _attention(first, factor)
        for kind in ("flash", "efficient", "cudnn")
        for direction, first, factor in (("", 0, 1.0), ("_backward", 1, 2.5))
    },
    "native_layer_norm": _normalised,
    "_fused_rms_norm": _normalised,
    "topk": _last_row,
    **dict.fromkeys(
        (
            "_softmax", "_log_softmax", "sum", "mean", "amax", "amin", "max", "min", "argmax", "argmin", "prod", "all",
            "any", "cumsum", "cumprod", "logcumsumexp", "sort", "argsort", "std", "var", "logsumexp",
        ),
        _row,
    ),
}  # fmt: skip


def find(op: Value, name: str) -> Assess | None:
    """Return what assesses an op's calls, or ``None`` when memory traffic alone decides."""
    own = _OWN.get(name)
    if own is not None:
        return own
    formula = flop_registry.get(op._overloadpacket)
    if formula is None:
        return None

    def assess(args: Arguments, kwargs: Keywords, result: Value) -> Demand:
        try:
            return Demand(float(formula(*args, **kwargs, out_val=result)))
        except Exception:  # a formula of torch's that does not know this call: let the traffic decide
            return NOTHING

    return assess
