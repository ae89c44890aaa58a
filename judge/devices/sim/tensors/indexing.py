"""Indexing: masks are counted on the host, and indices of the host are copied over. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.accesses import access_of
from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.oprules import HANDLERS, Op, Rule
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.execution import Execution

Tensor = torch.Tensor
_MASKS = (torch.bool, torch.uint8)


def run_index(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run ``aten::index`` or a relative of it.

    Synchronises: once for each mask (its ``nonzero``), and once for each index that lies on the host, unless one value
    of the host is written under a mask, which needs no count.

    Source: ``expandTensors`` in aten/src/ATen/native/IndexingUtils.h, ``canDispatchToMaskedFill`` in
    aten/src/ATen/native/TensorAdvancedIndexingUtils.h, torch 2.13.
    """
    if is_device(args[0]):
        for index in args[1]:
            if index is None:
                continue
            if not is_device(index):
                _send_index(execution, index)
            elif index.dtype in _MASKS and not _is_masked_fill(rule, args):
                _count_mask(execution, index)
    return execution.run(rule, op, args, kwargs)


def _is_masked_fill(rule: Rule, args: Arguments) -> bool:
    """Tell whether one value of the host is written under masks."""
    if "put" not in rule.name or len(args) < 3:
        return False
    value = args[2]
    is_added = len(args) > 3 and bool(args[3])
    return value.numel() == 1 and not is_device(value) and not is_added


def _count_mask(execution: Execution, mask: Tensor) -> None:
    machine = execution.machine
    execution.waits.refuse("nonzero", "Tensor[mask]")
    access = access_of(mask)
    reads = () if access is None else (access,)
    machine.launch(machine.cost.kernel("nonzero", read_bytes=mask.numel(), elements=mask.numel()), reads, ())
    execution.waits.wait(machine.current, "nonzero", "Tensor[mask]")


def _send_index(execution: Execution, index: Tensor) -> None:
    machine = execution.machine
    if machine.current.capture is not None:
        raise machine.captures.pageable_copy_error()
    execution.waits.refuse("copy_h2d", "Tensor[indices of the host]")
    machine.launch(machine.cost.copy("h2d", index.numel() * index.element_size(), is_pinned=False), (), ())
    execution.waits.wait(machine.current, "copy_h2d", "Tensor[indices of the host]")


HANDLERS.update(
    dict.fromkeys(
        ("index", "index_put_", "_index_put_impl_", "index_put", "_unsafe_index", "_unsafe_index_put"), run_index
    )
)
