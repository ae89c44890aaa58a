"""Ops that make tensors from nothing, and ops of the host. (torch)"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

import torch

from judge.devices.sim.sites import find_site
from judge.devices.sim.storages import new_tensor
from judge.devices.sim.tensors.generators import check_host, find_generator
from judge.devices.sim.tensors.launching import launch
from judge.devices.sim.tensors.membership import Ranges, is_pinned
from judge.devices.sim.tensors.operands import Operands
from judge.devices.sim.tensors.oprules import FILL_VALUE, Op, Rule
from judge.devices.sim.tensors.placement import contiguous_strides, place_pinned
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.execution import Execution

Tensor = torch.Tensor
_HOST = torch.device("cpu")
_META = torch.device("meta")
_PLAIN = frozenset({"zeros", "ones", "empty"})
"""Factories whose tensor follows from its size and type alone."""
_OWN_FRAMES = 3
"""From ``fill`` on, at least so many frames are ours: the mode's call is the third."""
_UNUSUAL = ("layout", "memory_format", "pin_memory")
_fill = torch.ops.aten.fill_.Scalar
_data_ptr = torch._C.TensorBase.data_ptr
_untyped_storage = torch._C.TensorBase.untyped_storage
_copy = torch.ops.aten.copy_.default


def run(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords, operands: Operands) -> Value:
    """Run an op with a ``device`` argument, if what it makes is not the device's.

    Returns:
        The result; ``NotImplemented`` when it belongs on the device.
    """
    device = kwargs.get("device")
    if device is not None and device.type == "cuda":
        execution.initialise()
        return NotImplemented
    if device is not None and device.type != "cpu":
        return op(*args, **kwargs)
    if kwargs.get("pin_memory"):
        execution.initialise()
        made = op(*args, **{**kwargs, "pin_memory": False, "device": _HOST})
        return place_pinned(execution.machine, made)
    is_host_factory = execution.context.is_host_factory
    if operands.is_any_device:
        is_sparse = kwargs.get("layout", torch.strided) not in (None, torch.strided)  # made of the device's parts
        if is_sparse or not (is_host_factory and device is not None):
            return NotImplemented
        return op(*args, **kwargs)
    if is_host_factory or (operands.others and not _are_undecided(operands)):
        return run_on_host(execution, rule, op, args, kwargs, operands)
    if execution.machine.captures and execution.machine.current.capture is not None:
        return NotImplemented  # what a graph's replay must fill again is a node of the graph
    if execution.context.is_device_backward and torch._C._current_graph_task_id() != -1:
        return NotImplemented
    return _keep_undecided(execution, op(*args, **kwargs))


def run_on_host(
    execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords, operands: Operands
) -> Value:
    """Run an op without tensors of the device. Pinned memory is watched; undecided tensors make undecided ones."""
    if rule.has_generator:
        check_host(find_generator(args, kwargs))
    result = op(*args, **kwargs)
    if not operands.others:
        return result
    for tensor, is_written, _ in operands.others:
        if is_pinned(tensor) and not (op.is_view and _is_alias(result, tensor)):
            execution.note_host_access(tensor, rule.name, is_write=is_written)
    if _are_undecided(operands):
        return _keep_undecided(execution, result)
    return result


def _is_alias(result: Value, tensor: Tensor) -> bool:
    """Tell whether an op made views of a tensor, which touches no byte; a ``reshape`` may have copied."""
    parts = result if type(result) in (list, tuple) else (result,)
    address = _untyped_storage(tensor).data_ptr()
    return all(isinstance(part, Tensor) and _untyped_storage(part).data_ptr() == address for part in parts)


def _are_undecided(operands: Operands) -> bool:
    """Tell whether all tensors of a call are undecided."""
    for tensor, _, _ in operands.others:
        try:
            address = _data_ptr(tensor)
        except RuntimeError:
            return False
        if not Ranges.undecided_low <= address < Ranges.undecided_high:
            return False
    return True


def _keep_undecided(execution: Execution, result: Value) -> Value:
    """Move what was made without a word about the device to where it can still become the device's."""
    if type(result) in (list, tuple):
        return type(result)(_keep_undecided(execution, part) for part in result)
    if not isinstance(result, Tensor) or result.layout is not torch.strided or result.is_nested:
        return result
    if Ranges.undecided_low <= _data_ptr(result) < Ranges.undecided_high:
        return result
    kept = execution.undecided.new(result.size(), result.stride(), result.dtype)
    return kept.zero_() if result._is_zerotensor() else _copy(kept, result)


def fill(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Tensor:
    """Make a tensor straight in device memory: one value in all elements, or what the last owner left there.

    Raises:
        torch.OutOfMemoryError: the device has no memory for it; the host made nothing.
    """
    size, stride, dtype, size_bytes = _find_shape(rule, op, args, kwargs)
    machine = execution.machine
    site = find_site(_OWN_FRAMES)
    tensor = new_tensor(machine, size, stride, dtype, site=site, size_bytes=size_bytes)
    if not rule.makes_kernel:
        machine.clock.host_us += machine.profile.host.view_us
        return tensor
    access = execution.preserve(tensor)
    value = rule.fill if rule.fill is not FILL_VALUE else kwargs.get("fill_value", args[-1])
    _fill(tensor, value)
    writes = [] if access is None else [access]
    launch(machine, rule, _fill, (tensor, value), {}, tensor, (), writes, site)
    return tensor


def _find_shape(
    rule: Rule, op: Op, args: Arguments, kwargs: Keywords
) -> tuple[Sequence[int], Sequence[int], torch.dtype, int | None]:
    """Return size, strides, type and, if known, bytes of what a factory makes; mostly its arguments tell them."""
    if rule.name in _PLAIN and len(args) == 1 and not any(map(kwargs.get, _UNUSUAL)):
        size = args[0]
        stride, count = _describe(tuple(size))
        if count >= 0:
            dtype = kwargs.get("dtype") or torch.get_default_dtype()
            return size, stride, dtype, count * dtype.itemsize
    shape = op(*args, **{**kwargs, "device": _META})
    return shape.size(), shape.stride(), shape.dtype, None


@lru_cache(maxsize=4096)
def _describe(size: tuple[int, ...]) -> tuple[Sequence[int], int]:
    """Return the strides and the number of elements of a contiguous tensor; -1 where there can be none."""
    return contiguous_strides(size), -1 if size and min(size) < 0 else prod(size)
