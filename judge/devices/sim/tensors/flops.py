"""How many floating point operations an op takes, where memory traffic alone does not tell its time. (torch)"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from torch.utils.flop_counter import flop_registry

FlopCount = Callable[[tuple[Any, ...], dict[str, Any], Any], float]
"""Of the op's arguments and its result."""


def _matrices(first: int) -> FlopCount:
    """Two for each multiply-add of a product of matrices, alone or in a batch."""

    def count(args: tuple[Any, ...], _: dict[str, Any], __: Any) -> float:
        left, right = args[first].shape, args[first + 1].shape
        return 2.0 * prod(left) * (right[-1] if len(right) > 1 else 1)

    return count


def _attention(backward_factor: float) -> FlopCount:
    """Two products of matrices forward; five, of the same shape, backward."""

    def count(args: tuple[Any, ...], _: dict[str, Any], __: Any) -> float:
        query, key = (args[0], args[1]) if backward_factor == 1.0 else (args[1], args[2])
        return 4.0 * prod(query.shape) * key.shape[-2] * backward_factor

    return count


_OWN: dict[str, FlopCount] = {
    "mm": _matrices(0),
    "bmm": _matrices(0),
    "mv": _matrices(0),
    "addmm": _matrices(1),
    "baddbmm": _matrices(1),
    "addmv": _matrices(1),
    "_scaled_dot_product_flash_attention_for_cpu": _attention(1.0),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention(2.5),
}


def find(op: Any, name: str) -> FlopCount | None:
    """Return what counts an op's operations, or ``None`` when its memory traffic decides."""
    own = _OWN.get(name)
    if own is not None:
        return own
    formula = flop_registry.get(op._overloadpacket)
    if formula is None:
        return None

    def count(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> float:
        try:
            return float(formula(*args, **kwargs, out_val=result))
        except Exception:  # a formula of torch's that does not know this call: let the traffic decide
            return 0.0

    return count
