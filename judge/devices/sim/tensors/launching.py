"""From an op that has computed to work on a stream. (torch)"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import torch

from judge.devices.sim.graphs.frozen import freeze_call
from judge.devices.sim.tensors.demand import NOTHING
from judge.devices.sim.tensors.placement import rerun
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.cost import NumberClass
    from judge.devices.sim.machine import Machine
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.sites import Site
    from judge.devices.sim.streams import Stream
    from judge.devices.sim.tensors.oprules import Op, Rule

Tensor = torch.Tensor

_CLASSES: dict[torch.dtype, NumberClass] = {
    torch.float64: "f64",
    torch.complex128: "f64",
    torch.float32: "f32",
    torch.complex64: "f32",
    torch.float16: "f16",
    torch.bfloat16: "f16",
}
_numel = torch._C.TensorBase.numel


def launch(
    machine: Machine,
    rule: Rule,
    op: Op,
    args: Arguments,
    kwargs: Keywords,
    result: Value,
    reads: Sequence[Access],
    writes: Sequence[Access],
    site: Site | None = None,
    stream: Stream | None = None,
) -> None:
    """Queue the work of an op.

    Args:
        machine: the device.
        rule: of the op.
        op: what computed.
        args: its positional arguments.
        kwargs: its keyword arguments.
        result: what it returned, on the device by now.
        reads: the bytes that it read.
        writes: the bytes that it wrote.
        site: the user's line; found if left out.
        stream: where it is queued; the current one if left out.
    """
    first = args[0] if args and type(args[0]) is Tensor else _find_tensor(args)
    made = result if isinstance(result, Tensor) else first
    elements = 0 if made is None else _numel(made)
    if first is not None and first is not made and (others := _numel(first)) > elements:
        elements = others
    read_bytes = written_bytes = 0
    for access in reads:
        read_bytes += access[1] - access[0] if access[2] is None else _count_bytes(access)
    for access in writes:
        written_bytes += access[1] - access[0] if access[2] is None else _count_bytes(access)
    if rule.scatters and reads:
        elements = min(elements, read_bytes // writes[0].item_bytes) if writes else elements
        written_bytes = min(written_bytes, read_bytes)
    elif rule.picks and reads:
        table_bytes = _count_bytes(reads[0])
        read_bytes += min(table_bytes, written_bytes) - table_bytes
        elements = 0 if made is None else _numel(made)
    number_class: NumberClass = "i" if made is None else _CLASSES.get(made.dtype, "i")
    if number_class == "f32" and rule.uses_libraries and torch._C._get_cublas_allow_tf32():
        number_class = "tf32"
    demand = NOTHING if rule.assess is None else rule.assess(args, kwargs, result)
    work = machine.cost.kernel(
        rule.kernel,
        flops=demand.flops,
        read_bytes=read_bytes,
        written_bytes=written_bytes,
        dtype_class=number_class,
        elements=elements,
        row=demand.row,
        matrices=demand.matrices,
    )
    if stream is None:
        stream = machine.current
    redo: Value = None
    if stream.capture is not None:
        redo = freeze_call(op, args, kwargs, result)
    elif len(machine.streams.streams) > 1:
        redo = partial(rerun, op, args, kwargs, result)
    machine.launch(work, reads, writes, stream=stream, site=site, redo=redo)


def _count_bytes(access: Access) -> int:
    """Return the bytes that an access touches, without the gaps between them."""
    if access.strides is None:
        return access.high - access.low
    return access.item_bytes * prod(count for count, _ in access.strides)


def _find_tensor(args: Arguments) -> Tensor | None:
    for value in args:
        if isinstance(value, Tensor):
            return value
        if type(value) in (list, tuple) and value and isinstance(value[0], Tensor):
            return value[0]
    return None
