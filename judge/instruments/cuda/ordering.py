"""The calls by which a program orders streams, told to whoever keeps the order. (torch)

PyTorch would tell of them by itself (``torch._C._activate_gpu_trace``), and of each free as well. That can't be turned
off again, and its hooks import a module: where a tensor dies while an exception is on its way, the import fails and
takes the exception with it ("error return without exception set"). So the names are replaced instead.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from judge.devices.sim.patches import Patches
from judge.instruments.cuda.generic import replace_event, replace_stream
from judge.instruments.cuda.order import Order

Call = Callable[..., Any]


class OrderingCalls:
    """Tells an order of events, waits and synchronisations while it is on.

    What is queued into a capture orders nothing outside of it, and is left out.

    Args:
        order: told of each.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._patches = Patches()

    def start(self) -> None:
        """Replace the names."""
        patches, see = self._patches, self._see
        for kind in (torch.cuda.Event, replace_event(patches)):
            patches.wrap(kind, "record", self._record)
            patches.wrap(kind, "wait", self._wait)
            for name in ("synchronize", "query"):
                patches.wrap(kind, name, functools.partial(see, self._order.see_event))
        for kind in (torch.cuda.Stream, replace_stream(patches)):
            for name in ("synchronize", "query"):
                patches.wrap(kind, name, functools.partial(see, self._see_stream))
        for owner in (torch.cuda, torch.accelerator):
            patches.wrap(owner, "synchronize", functools.partial(see, self._see_all))
        patches.wrap(torch.cuda, "empty_cache", functools.partial(see, self._see_all))
        # one of a class whose methods have been wrapped
        patches.set(torch.accelerator, "current_stream", lambda device=None: torch.cuda.current_stream(device))

    def stop(self) -> None:
        """Put everything back."""
        self._patches.restore()

    def _see_all(self, *_: object) -> None:
        self._order.see_all()

    def _see_stream(self, stream: Any) -> None:  # noqa: ANN401  # a stream of either class
        self._order.see_stream(handle_of(stream))

    def _record(self, original: Call) -> Call:
        @functools.wraps(original)
        def record(event: Any, stream: Any = None) -> Any:  # noqa: ANN401  # passed on as they are
            stream = torch.cuda.current_stream() if stream is None else stream
            result = original(event, stream)
            if not torch.cuda.is_current_stream_capturing():
                self._order.record(event, handle_of(stream))
            return result

        return record

    def _wait(self, original: Call) -> Call:
        @functools.wraps(original)
        def wait(event: Any, stream: Any = None) -> Any:  # noqa: ANN401  # passed on as they are
            stream = torch.cuda.current_stream() if stream is None else stream
            result = original(event, stream)
            if not torch.cuda.is_current_stream_capturing():
                self._order.wait(handle_of(stream), event)
            return result

        return wait

    def _see(self, note: Call, original: Call) -> Call:
        """Wrap what waits, or asks: an answer of ``False`` says that it is not over."""

        @functools.wraps(original)
        def see(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # passed on as they are
            result = original(*args, **kwargs)
            if result is not False:
                note(*args)
            return result

        return see


def handle_of(stream: Any) -> int:  # noqa: ANN401  # torch.Stream or torch.cuda.Stream
    """Return the ``cudaStream_t`` of a stream of either class."""
    if not isinstance(stream, torch.cuda.Stream):
        stream = torch.cuda.Stream(  # type: ignore[no-untyped-call]
            stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type
        )
    return int(stream.cuda_stream)
