"""A dispatch mode that writes down every operator: when it ran, for which line, and what it touched. (torch)"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from judge.devices.sim.sites import find_site
from judge.instruments.cuda.calls import Call, CallLog
from judge.instruments.cuda.hazards import Hazards, Operation
from judge.instruments.cuda.ordering import handle_of

COPIES = ("aten::copy_", "aten::_to_copy")


class OperationMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
    """Logs operators, and tells the search for races what they touch.

    Args:
        log: where calls are written.
        hazards: told of what operators read and write, of ``record_stream``, and of waits inside operators.
    """

    def __init__(self, log: CallLog, hazards: Hazards) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._log = log
        self._hazards = hazards

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Keep the mode from importing the compiler, which takes seconds."""
        return False

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401  # an OpOverload, which PyTorch leaves untyped
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  # whatever the operator gives
        """Run the operator and write it down."""
        named = kwargs or {}
        if func is torch.ops.aten.record_stream.default:
            self._hazards.note_record(args[0], handle_of(args[1]))
            return func(*args, **named)
        name = str(func).split(".")[1] if str(func).startswith("aten.") else str(func)
        site = find_site()
        call = Call(name, site, time.perf_counter_ns())
        self._log.begin(call)
        try:
            result = func(*args, **named)
        finally:
            call.ended_ns = time.perf_counter_ns()
        stream = torch.cuda.current_stream().cuda_stream
        self._hazards.note_operation(Operation(func, args, named, result, stream, site))
        if call.warnings or _comes_to_pageable(func, args, result):
            self._hazards.note_wait(stream)
        return result


def _comes_to_pageable(func: Any, args: Sequence[Any], result: Any) -> bool:  # noqa: ANN401  # an operator, its values
    """Return whether an operator was a copy from the device to pageable memory, which the host waits for."""
    if func._schema.name not in COPIES:
        return False
    source = args[1] if func._schema.name == "aten::copy_" else args[0]
    is_download = source.is_cuda and result.device.type == "cpu"
    return bool(is_download and not result.is_pinned())
