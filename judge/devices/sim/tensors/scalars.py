"""Values that leave the device as Python numbers. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge.devices.sim.tensors.accesses import access_of
from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.oprules import HANDLERS, Op, Rule
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.execution import Execution


def run_item(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run ``aten::_local_scalar_dense``: a copy of one element, which the host waits for.

    Synchronises: yes, for a tensor of the device.
    """
    tensor = args[0]
    if not is_device(tensor):
        return execution.run(rule, op, args, kwargs)
    machine = execution.machine
    execution.waits.refuse("item", "Tensor.item")
    access = access_of(tensor)
    machine.launch(
        machine.cost.copy("d2h", tensor.element_size(), is_pinned=True), () if access is None else (access,), ()
    )
    execution.waits.wait(machine.current, "item", "Tensor.item")
    return op(*args, **kwargs)


HANDLERS["_local_scalar_dense"] = run_item
