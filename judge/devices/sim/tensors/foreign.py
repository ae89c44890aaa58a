"""Ops of other libraries, and those that a user registers: their kernels run ops of their own. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.tensors.operands import scan
from judge.devices.sim.tensors.oprules import Op, Rule
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.execution import Execution

_CUDA = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
_HOST = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
_HOST_KEYS = ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd")


def run(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run an op that is not torch's own. Call it with dispatch on: what its kernel does is seen op by op.

    Raises:
        NotSimulated: it has compiled code for CUDA only.
    """
    operands = scan(rule, args, kwargs)
    if not operands.is_any_device:
        return op.redispatch(_HOST, *args, **kwargs)
    if torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CUDA"):
        return op.redispatch(_CUDA, *args, **kwargs)
    if not any(torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), key) for key in _HOST_KEYS):
        raise NotSimulated(op.name(), "it has no kernel for the host that could compute in its place")
    return execution.decide_result(op.redispatch(_HOST, *args, **kwargs))
