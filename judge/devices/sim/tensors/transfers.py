"""Copies between host and device: which of them the host waits for, and when their bytes are read. (torch)"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import torch

from judge.devices.sim.graphs.frozen import freeze_call, freeze_download
from judge.devices.sim.storages import new_pinned, new_tensor
from judge.devices.sim.tensors.accesses import access_of
from judge.devices.sim.tensors.arrivals import Arrival
from judge.devices.sim.tensors.membership import is_device, is_pinned
from judge.devices.sim.tensors.oprules import HANDLERS, Op, Rule
from judge.devices.sim.tensors.placement import contiguous_strides, rerun
from judge.devices.sim.tensors.raw import layout_of
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.tensors.execution import Execution

Tensor = torch.Tensor
STAGED_BYTES = 64 << 10
"""Pageable copies to the device up to this size are taken into a buffer of the driver's, and nobody waits.

Source: "API synchronization behavior", CUDA Runtime API. An NVIDIA H200 (driver 580.159) did not wait for 1 MiB either,
but did for 4 MiB: what is not promised is counted as a wait.
"""
_copy = torch.ops.aten.copy_.default
_to_copy = torch.ops.aten._to_copy.default
_clone = torch.ops.aten.clone.default
_empty_like = torch.ops.aten.empty_like.default
_HOST = torch.device("cpu")


def upload(execution: Execution, target: Tensor, source: Tensor, *, is_async: bool) -> None:
    """Copy from the host to the device, by the route that PyTorch takes.

    Args:
        execution: of this installation.
        target: on the device.
        source: on the host; broadcast to the target's shape.
        is_async: the user's ``non_blocking``.

    Raises:
        RuntimeError: the stream is being captured and the copy can't be.

    Synchronises: unless ``is_async`` and the source is pinned, or small.

    Source: ``copy_kernel_cuda`` and ``copy_requires_temporaries``, aten/src/ATen/native/cuda/Copy.cu, torch 2.13.
    """
    if not target.numel():
        return
    _check_capture(execution, source, "copy_h2d", is_async=is_async)
    if _fits_directly(target, source):
        _send(execution, target, source, is_async=is_async)
        return
    # a conversion is done by the CPU for a blocking copy, else by the device
    if not is_async and source.dtype != target.dtype:
        source = _to_copy(source, dtype=target.dtype)
    source = source.expand(target.size()).contiguous()
    if source.dtype == target.dtype and target.is_contiguous():
        _send(execution, target, source, is_async=is_async)
        return
    staging = new_tensor(execution.machine, source.size(), source.stride(), source.dtype)
    _send(execution, staging, source, is_async=is_async)
    execution.call(_copy, target, staging)


def download(execution: Execution, target: Tensor, source: Tensor, *, is_async: bool) -> None:
    """Copy from the device to the host, by the route that PyTorch takes.

    Args:
        execution: of this installation.
        target: on the host.
        source: on the device; broadcast to the target's shape.
        is_async: the user's ``non_blocking``.

    Raises:
        RuntimeError: the stream is being captured and the copy can't be.

    Synchronises: unless ``is_async`` and the target is pinned: then the bytes appear when the host is ordered after it.
    """
    if not target.numel():
        return
    _check_capture(execution, target, "copy_d2h", is_async=is_async)
    if not _fits_directly(target, source):
        source = source.expand(target.size())
        if is_async and source.dtype != target.dtype:
            source = execution.call(_to_copy, source, dtype=target.dtype)
        elif not source.is_contiguous():
            source = execution.call(_clone, source, memory_format=torch.contiguous_format)
        if not target.is_contiguous() or source.dtype != target.dtype:
            received = _empty_like(source)
            _receive(execution, received, source, is_async=is_async)
            _copy(target, received)
            return
    _receive(execution, target, source, is_async=is_async)


def _fits_directly(target: Tensor, source: Tensor) -> bool:
    """Tell whether one run of bytes can be copied as it is."""
    return (
        target.dtype == source.dtype
        and target.size() == source.size()
        and (
            (target.is_contiguous() and source.is_contiguous())
            or (target.stride() == source.stride() and (access := access_of(target)) is not None and not access.strides)
        )
        and target.is_conj() == source.is_conj()
        and target.is_neg() == source.is_neg()
    )


def _check_capture(execution: Execution, host_side: Tensor, kind: str, *, is_async: bool) -> None:
    """Raise what a copy that can't be captured raises, or sync debug mode, before anything happens."""
    machine = execution.machine
    if machine.current.capture is not None and not is_pinned(host_side):
        raise machine.captures.pageable_copy_error()
    if not is_async:
        execution.waits.refuse(kind, "Tensor.copy_")


def _send(execution: Execution, target: Tensor, source: Tensor, *, is_async: bool) -> None:
    machine = execution.machine
    stream = machine.current
    is_in_pinned = is_pinned(source)
    size_bytes = source.numel() * source.element_size()
    written = execution.preserve(target)
    read = access_of(source) if is_in_pinned else None
    with machine.host.as_seen_by(stream.vector) if is_in_pinned else nullcontext():
        _copy(target, source)
    redo: Value = None
    if stream.capture is not None:
        redo = freeze_call(_copy, (target, source), {}, target)
    elif machine.second_look is not None and is_in_pinned:
        redo = partial(rerun, _copy, (target, source), {}, target)
    work = machine.cost.copy("h2d", size_bytes, is_pinned=is_in_pinned)
    machine.launch(work, _some(read), _some(written), stream=stream, redo=redo)
    if not is_async:
        execution.waits.wait(stream, "copy_h2d", "Tensor.copy_")
    elif not is_in_pinned and size_bytes > STAGED_BYTES:
        execution.waits.wait(stream, "copy_h2d", "Tensor.copy_", is_seen_by_debug_mode=False)
    elif is_in_pinned and read is not None:
        _use_pinned(execution, source)
        if stream.capture is None:
            execution.uploads.add(stream, read, layout_of(target), layout_of(source))


def _receive(execution: Execution, target: Tensor, source: Tensor, *, is_async: bool) -> None:
    machine = execution.machine
    stream = machine.current
    is_in_pinned = is_pinned(target)
    written = access_of(target) if is_in_pinned else None
    redo: Value = None
    if stream.capture is not None:
        redo = freeze_download(target, source)
    work = machine.cost.copy("d2h", target.numel() * target.element_size(), is_pinned=is_in_pinned)
    machine.launch(work, _some(access_of(source)), _some(written), stream=stream, redo=redo)
    if is_async and is_in_pinned:
        _use_pinned(execution, target)
        if stream.capture is None:
            machine.when_ordered(stream, Arrival(layout_of(target), source.clone()))
        return
    # the runtime returns from a pageable copy only once it is done, which sync debug mode does not know
    execution.waits.wait(stream, "copy_d2h", "Tensor.copy_", is_seen_by_debug_mode=not is_async)
    _copy(target, source)


def _use_pinned(execution: Execution, tensor: Tensor) -> None:
    """Keep a pinned block from being handed out again before the copy is done."""
    machine = execution.machine
    machine.pinned.record_stream(tensor.untyped_storage().data_ptr(), machine.current.handle)


def _some(access: Access | None) -> tuple[Access, ...]:
    return () if access is None else (access,)


def run_copy(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run ``aten::copy_``."""
    target, source = args[:2]
    is_async = bool(args[2] if len(args) > 2 else kwargs.get("non_blocking", False))
    to_device = execution.decide_together(target, source)
    if to_device is None:
        return execution.run(rule, op, args, kwargs)
    if to_device:
        upload(execution, target, source, is_async=is_async)
    else:
        download(execution, target, source, is_async=is_async)
    return target


def run_to_copy(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run ``aten::_to_copy``, across devices when the surface or the ``device`` argument says so."""
    source = args[0]
    is_on_device = is_device(source)
    device, transfer = kwargs.get("device"), execution.context.transfer
    is_wanted = is_on_device
    if transfer is not None:
        is_wanted = transfer == "h2d"
    elif device is not None and device.type == "cuda":
        is_wanted = True
    elif device is not None and device.type != "cpu":
        return op(*args, **kwargs)
    plain = {name: value for name, value in kwargs.items() if name not in ("device", "non_blocking", "pin_memory")}
    if is_wanted == is_on_device:
        return execution.run(rule, op, args, plain)
    is_async = bool(kwargs.get("non_blocking", False))
    shape = _empty_like(source, **plain)
    machine = execution.machine
    if is_wanted:
        execution.initialise()
        target = new_tensor(machine, shape.size(), shape.stride(), shape.dtype)
        upload(execution, target, source, is_async=is_async)
        return target
    target = new_pinned(machine, shape.size(), shape.stride(), shape.dtype) if is_async else shape
    download(execution, target, source, is_async=is_async)
    return target


def run_is_pinned(_: Execution, __: Rule, ___: Op, args: Arguments, ____: Keywords) -> bool:
    """Run ``aten::is_pinned``."""
    return is_pinned(args[0])


def run_pin_memory(execution: Execution, _: Rule, __: Op, args: Arguments, ___: Keywords) -> Tensor:
    """Run ``aten::_pin_memory``.

    Raises:
        RuntimeError: the tensor is on the device; PyTorch's text.
    """
    source = args[0]
    if is_device(source):
        kind = "torch.cuda." + source.type().rpartition(".")[2]
        raise RuntimeError(f"cannot pin '{kind}' only dense CPU tensors can be pinned")
    execution.initialise()
    target = new_pinned(execution.machine, source.size(), contiguous_strides(source.size()), source.dtype)
    return _copy(target, source)  # type: ignore[no-any-return]


HANDLERS.update({
    "copy_": run_copy,
    "_to_copy": run_to_copy,
    "is_pinned": run_is_pinned,
    "pin_memory": run_pin_memory,
    "_pin_memory": run_pin_memory,
})  # fmt: skip
