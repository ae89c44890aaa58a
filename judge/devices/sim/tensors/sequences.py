"""Sequences of unlike length: packed ones, whose sizes stay on the host, and nested ones. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.oprules import HANDLERS, Op, Rule
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.execution import Execution

_to_copy = torch.ops.aten._to_copy.default
_OPTIONS = ("dtype", "layout", "device", "pin_memory")


def run_pack(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run ``aten::_pack_padded_sequence``: lengths come from the host, and the sizes of the steps go there."""
    if not is_device(args[0]):
        return execution.run(rule, op, args, kwargs)
    sizes: Value = None

    def pack(*args: Value, **kwargs: Value) -> Value:
        nonlocal sizes
        packed, sizes = op(*args, **kwargs)
        return packed

    packed = execution.run(rule, pack, args, kwargs)
    return packed, sizes


def run_nest(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run ``aten::_nested_tensor_from_tensor_list``: what is on the host goes over first, part by part."""
    options = {**dict(zip(_OPTIONS, args[1:], strict=False)), **kwargs}
    device = options.pop("device", None)
    parts = args[0]
    if device is not None and device.type == "cuda":
        parts = [part if is_device(part) else execution.call(_to_copy, part, device=device) for part in parts]
    return execution.run(rule, op, (parts,), options)


HANDLERS["_pack_padded_sequence"] = run_pack
HANDLERS["_nested_tensor_from_tensor_list"] = run_nest
