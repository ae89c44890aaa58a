"""All captures under way on a device, and what they forbid."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from judge.devices.sim.allocator.pools import DEFAULT_POOL, PoolId
from judge.devices.sim.cuda_errors import (
    CAPTURE_IMPLICIT,
    CAPTURE_UNSUPPORTED,
    CAPTURE_WRONG_THREAD,
    CAPTURED_EVENT,
    ILLEGAL_STATE,
    INVALID_VALUE,
    cuda_error,
)
from judge.devices.sim.graphs.capture import Capture
from judge.devices.sim.graphs.images import Intervals

if TYPE_CHECKING:
    from judge.devices.sim.events import Event
    from judge.devices.sim.races.shadow import Shadow
    from judge.devices.sim.streams import Stream

_PAGEABLE = (
    "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned. "
    "Please use tensor.pin_memory() or allocate the tensor with pin_memory=True."
)


class Captures:
    """The captures under way. Every check is a no-op while there are none, at the cost of one truth test.

    Args:
        view: gives the bytes of a range of device memory, by address and size.

    Source: "Prohibited and Unhandled Operations" of the CUDA C++ Programming Guide, and ``cudaStreamCaptureMode``.
    """

    def __init__(self, view: Callable[[int, int], memoryview]) -> None:
        self._view = view
        self.active: list[Capture] = []
        self._pools: dict[PoolId, Intervals] = {}
        self.is_debugging = False
        """Whether graphs may be dumped (``enable_debug_mode``); they still have to be kept for it."""

    def __bool__(self) -> bool:
        return bool(self.active)

    def begin(self, stream: Stream, mode: str, shadow: Shadow | None = None, pool_id: PoolId = DEFAULT_POOL) -> Capture:
        """Begin a capture on a stream.

        Args:
            stream: not the default stream, and in no capture.
            mode: ``global``, ``thread_local`` or ``relaxed``: whose unsafe calls it forbids.
            shadow: finds races.
            pool_id: where the memory of the capture's streams comes from.

        Raises:
            RuntimeError: CUDA error 900 for the default stream, 401 for a stream that is in a capture.
        """
        if stream.handle == 0:
            raise cuda_error(CAPTURE_UNSUPPORTED)
        if stream.capture is not None:
            raise cuda_error(ILLEGAL_STATE)
        capture = Capture(stream, mode, self._view, shadow, self._pools.setdefault(pool_id, Intervals()))
        self.active.append(capture)
        return capture

    def forget_pool(self, pool_id: PoolId) -> None:
        """Forget a pool that nobody holds any more."""
        self._pools.pop(pool_id, None)

    def end(self, capture: Capture) -> None:
        """End a capture, good or bad.

        Raises:
            RuntimeError: CUDA error 908, the calling thread did not begin it and its mode is not ``relaxed``; 901 and
                904 as in :meth:`Capture.end`.
        """
        self.active.remove(capture)
        if capture.mode != "relaxed" and capture.thread != threading.get_ident():
            with contextlib.suppress(RuntimeError):
                capture.end()
            raise cuda_error(CAPTURE_WRONG_THREAD)
        capture.end()

    def check_unsafe(self) -> None:
        """Refuse a call that may be unsafe while something is captured, such as ``cudaEventQuery``.

        A capture in ``global`` mode forbids it to every thread, one in ``thread_local`` mode to the thread that
        began it, one in ``relaxed`` mode to none.

        Raises:
            RuntimeError: CUDA error 900; the captures that forbid the call are invalid from now on.
        """
        if not self.active:
            return
        thread = threading.get_ident()
        offended = [
            capture
            for capture in self.active
            if capture.mode == "global" or (capture.mode == "thread_local" and capture.thread == thread)
        ]
        self._refuse(offended)

    def check_device(self) -> None:
        """Refuse a wait for the whole device, which takes in the capturing streams, in every mode.

        Raises:
            RuntimeError: CUDA error 900.
        """
        if self.active:
            self._refuse(self.active)

    def check_stream(self, stream: Stream) -> None:
        """Refuse to wait for or query a stream: a capturing one in every mode, others as an unsafe call.

        Raises:
            RuntimeError: CUDA error 900.
        """
        if isinstance(stream.capture, Capture):
            self._refuse([stream.capture])
        self.check_unsafe()

    def check_event(self, event: Event) -> None:
        """Refuse to wait for or query an event: a captured one in every mode, others as an unsafe call.

        Raises:
            RuntimeError: CUDA error 907, it was last recorded in a capture, which is invalid from now on; 1, that
                capture is over; 900, something else is captured.
        """
        moment = event.recorded
        capture = moment.capture if moment is not None else None
        if isinstance(capture, Capture):
            if capture.is_over:
                raise cuda_error(INVALID_VALUE)
            capture.invalidate()
            raise cuda_error(CAPTURED_EVENT)
        self.check_unsafe()

    def check_legacy(self) -> None:
        """Refuse work on the default stream while a *blocking* stream is captured.

        Raises:
            RuntimeError: CUDA error 906; that capture is invalid from now on.
        """
        for capture in self.active:
            if any(stream.is_blocking for stream in capture.streams):
                capture.invalidate()
                raise cuda_error(CAPTURE_IMPLICIT)

    def pageable_copy_error(self) -> RuntimeError:
        """Return what a copy to or from pageable memory on a capturing stream raises; the capture stays valid."""
        return RuntimeError(_PAGEABLE)

    def _refuse(self, offended: list[Capture]) -> None:
        if not offended:
            return
        first = offended[0]
        for capture in offended[1:]:
            capture.invalidate()
        first.refuse("")
