"""Tensors that grow: their storage lies in an arena and can't, so they get another. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.storages import count_bytes, new_tensor
from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.oprules import HANDLERS, Op, Rule
from judge.devices.sim.tensors.placement import contiguous_strides
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.execution import Execution

_copy = torch.ops.aten.copy_.default


def run_resize(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run ``aten::resize_``. A tensor that grows loses its views, which keep the old bytes."""
    tensor = args[0]
    if not is_device(tensor):
        return execution.run(rule, op, args, kwargs)
    size = torch.Size(args[1])
    strides = contiguous_strides(size)
    needed = count_bytes(size, strides, tensor.element_size()) + tensor.storage_offset() * tensor.element_size()
    storage = tensor.untyped_storage()
    if needed <= storage.nbytes():
        torch.ops.aten.set_.source_Storage_storage_offset(tensor, storage, tensor.storage_offset(), size, strides)
        return tensor
    grown = new_tensor(execution.machine, size, strides, tensor.dtype)
    kept = min(tensor.numel(), grown.numel())
    if kept:
        execution.call(_copy, grown.view(-1)[:kept], tensor.contiguous().view(-1)[:kept])
    torch.ops.aten.set_.source_Tensor(tensor, grown)
    return tensor


HANDLERS["resize_"] = run_resize
