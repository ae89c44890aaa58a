"""A dispatch mode that writes down every operator: when it ran, for which line, and on whose memory. (torch)"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

from judge.devices.sim.sites import Site, find_site
from judge.instruments.cuda.calls import Call, CallLog

Use = Callable[[torch.Tensor, int, str, Site], None]
"""Told of each tensor that an operator was given or made: the tensor, the stream's handle, the operator, the line."""


class OperationMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
    """Logs operators, and tells who watches memory which streams use it.

    Args:
        log: where calls are written.
        on_use: told of uses of device memory.
        on_record: told of ``record_stream``: the tensor and the stream's handle.
    """

    def __init__(self, log: CallLog, on_use: Use, on_record: Callable[[torch.Tensor, int], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._log = log
        self._on_use = on_use
        self._on_record = on_record

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
            self._on_record(args[0], _handle_of(args[1]))
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
        for value in _pytree.tree_leaves((args, named, result)):
            if isinstance(value, torch.Tensor) and value.is_cuda:
                self._on_use(value, stream, name, site)
        return result


def _handle_of(stream: torch.Stream) -> int:
    """Return the ``cudaStream_t`` of a stream, which the operator gets as a ``torch.Stream``."""
    if isinstance(stream, torch.cuda.Stream):
        return int(stream.cuda_stream)
    known = torch.cuda.Stream(  # type: ignore[no-untyped-call]
        stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type
    )
    return int(known.cuda_stream)
