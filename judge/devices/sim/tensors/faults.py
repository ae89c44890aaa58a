"""Errors as CUDA raises them where the CPU's kernels say something else. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import torch

from judge.devices.sim.cuda_errors import DEVICE_ASSERT, cuda_error
from judge.devices.sim.tensors import halves
from judge.devices.sim.tensors.placement import place
from judge.devices.sim.tensors.values import Arguments, Keywords

if TYPE_CHECKING:
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.tensors.execution import Execution
    from judge.devices.sim.tensors.oprules import Op, Rule

_OUT_OF_RANGE = ("out of range", "out of bounds", "is out of bounds", "Assertion")
_CHECKED_ON_DEVICE = frozenset({
    "index", "index_put_", "_index_put_impl_", "index_put", "index_select", "gather", "scatter", "scatter_",
    "scatter_add", "scatter_add_", "embedding", "embedding_dense_backward", "take", "put_", "index_add",
    "index_add_", "index_copy_", "index_fill_", "nll_loss_forward", "nll_loss2d_forward", "_assert_async",
    "_embedding_bag", "one_hot", "scatter_reduce", "scatter_reduce_", "index_reduce_", "multinomial",
})  # fmt: skip
"""Ops whose indices (or probabilities) a kernel checks, on the device, after the call has returned."""


def raise_mismatch(rule: Rule, name: str) -> NoReturn:
    """Raise that tensors are on two devices.

    Source: ``common_device_check_failure`` in aten/src/ATen/core/op_registration/adaption.cpp, and ``TensorIterator``,
    torch 2.13.
    """
    text = "Expected all tensors to be on the same device, but "
    if rule.is_pointwise:
        raise RuntimeError(text + "found at least two devices, cuda:0 and cpu!")
    raise RuntimeError(
        f"{text}got {name} is on cpu, different from other tensors on cuda:0 "
        f"(when checking argument in method wrapper_CUDA_{rule.wrapper})"
    )


def answer(
    execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords, error: Exception
) -> tuple[Any, list[Access]]:
    """Do what can be done about an error of the CPU's kernel.

    Returns:
        The op's result and the bytes of the device that it wrote.

    Raises:
        RuntimeError: what CUDA raises in its place. An index out of range is found by a kernel, on the device: there it
            surfaces at some later call. Here it is raised at once, as with ``CUDA_LAUNCH_BLOCKING=1``.
    """
    text = str(error)
    if "not resizable" in text:
        return _fill_outs(execution, rule, op, args, kwargs)
    if halves.is_missing(rule, text):
        return halves.compute(rule, op, args, kwargs), []
    if rule.name in _CHECKED_ON_DEVICE and any(part in text for part in _OUT_OF_RANGE):
        raise cuda_error(DEVICE_ASSERT) from error
    raise error


def _fill_outs(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> tuple[Any, list[Access]]:
    """Run an op whose empty ``out=`` tensors must grow, which storages in an arena can't: they get new ones."""
    outs = {slot.name: kwargs[slot.name] for slot in rule.slots if slot.is_written and slot.name in kwargs}
    made = {name: torch.empty(0, dtype=out.dtype) for name, out in outs.items()}
    result = op(*args, **{**kwargs, **made})
    writes = []
    for name, out in outs.items():
        placed, access = place(execution.machine, made[name])
        torch.ops.aten.set_.source_Tensor(out, placed)
        if access is not None:
            writes.append(access)
    return (next(iter(outs.values())) if isinstance(result, torch.Tensor) else tuple(outs.values())), writes
