"""The tensors of one call, sorted by where they are and what happens to them. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.membership import Ranges, find_address
from judge.devices.sim.tensors.values import Arguments, Keywords

if TYPE_CHECKING:
    from judge.devices.sim.tensors.oprules import Rule

Tensor = torch.Tensor
_data_ptr = torch._C.TensorBase.data_ptr


class Operands:
    """The tensors of one call."""

    __slots__ = ("is_any_device", "others", "read", "written")

    def __init__(self) -> None:
        self.read: list[Tensor] = []
        """On the device, only read."""
        self.written: list[Tensor] = []
        """On the device, changed in place or given as ``out=``."""
        self.others: list[tuple[Tensor, bool, str]] = []
        """The host's and undecided ones, each with whether it is written, and the parameter's name."""
        self.is_any_device = False


def scan(rule: Rule, args: Arguments, kwargs: Keywords) -> Operands:
    """Return the tensors of a call, sorted."""
    operands = Operands()
    low, high = Ranges.device_low, Ranges.device_high
    count = len(args)
    for index, name, is_list, is_written in rule.slots:
        if index < count:
            value = args[index]
        elif name in kwargs:
            value = kwargs[name]
        else:
            continue
        if value is None:
            continue
        if is_list:
            for tensor in value:
                _sort(operands, tensor, is_written, name)
            continue
        try:
            address = _data_ptr(value)
        except (RuntimeError, TypeError):  # sparse, meta; a Python number in a tensor's place
            address = 0
        if low <= address < high:  # as nearly always; the rest is below
            operands.is_any_device = True
            (operands.written if is_written else operands.read).append(value)
        else:
            _sort(operands, value, is_written, name)
    return operands


def _sort(operands: Operands, tensor: Tensor, is_written: bool, name: str) -> None:
    """Put one tensor where it belongs; what is none is left out."""
    try:
        address = find_address(tensor)
    except TypeError:  # nothing, or a Python number in a tensor's place
        return
    if Ranges.device_low <= address < Ranges.device_high:
        operands.is_any_device = True
        if tensor.nbytes:  # else it is on the device, but there is nothing to touch
            (operands.written if is_written else operands.read).append(tensor)
        return
    undecided = Ranges.undecided
    if (
        undecided is not None
        and Ranges.undecided_low <= address < Ranges.undecided_high
        and undecided.is_device(tensor)
    ):
        operands.is_any_device = True
        (operands.written if is_written else operands.read).append(tensor)
        return
    operands.others.append((tensor, is_written, name))
