"""How long the device takes for a call, the same on a real and on the simulated device."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any


def measure_us(call: Callable[[], object], device: str) -> float:
    """Return the microseconds from the beginning to the end of what a call queues on the current stream.

    On a device it is the time between two events, the host's launches included where the device waits for them; on the
    simulated one it is virtual. *Synchronises: yes, before and after.*

    Args:
        call: what is measured; what it queues on other streams counts as far as the current one waits for it.
        device: ``"cuda"`` or ``"cpu"``.
    """
    if device != "cuda":
        begun_ns = time.perf_counter_ns()
        call()
        return (time.perf_counter_ns() - begun_ns) / 1e3
    cuda: Any = sys.modules["torch"].cuda
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    cuda.synchronize()
    start.record()
    call()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end) * 1e3)
