"""The tensors of one call, sorted by where they are and what happens to them. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.membership import Ranges
from judge.devices.sim.tensors.values import Arguments, Keywords

if TYPE_CHECKING:
    from judge.devices.sim.tensors.oprules import Rule

Tensor = torch.Tensor
_data_ptr = torch._C.TensorBase.data_ptr
_untyped_storage = torch._C.TensorBase.untyped_storage


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
        for tensor in value if is_list else (value,):
            if tensor is None:
                continue
            try:
                address = _data_ptr(tensor)
            except RuntimeError:  # without a storage: sparse, meta
                address = 0
            except TypeError:  # a Python number in a tensor's place
                continue
            if low <= address < high:
                operands.is_any_device = True
                (operands.written if is_written else operands.read).append(tensor)
            else:
                _sort_other(operands, tensor, address, is_written, name)
    return operands


def _sort_other(operands: Operands, tensor: Tensor, address: int, is_written: bool, name: str) -> None:
    if not address:
        try:
            address = _untyped_storage(tensor).data_ptr()
        except (RuntimeError, NotImplementedError):
            address = 0
        if Ranges.device_low <= address < Ranges.device_high:  # no elements: on the device, but nothing to touch
            operands.is_any_device = True
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
