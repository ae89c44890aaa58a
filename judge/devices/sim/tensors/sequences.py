"""Packed sequences: their sizes stay on the host. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.oprules import HANDLERS, Op, Rule
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.execution import Execution


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


HANDLERS["_pack_padded_sequence"] = run_pack
