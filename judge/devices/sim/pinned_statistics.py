"""Statistics of pinned host memory, as ``torch.cuda.host_memory_stats`` shows them."""

from __future__ import annotations

from judge.devices.sim.allocator.statistics import Gauge

GAUGES = ("allocations", "allocated_bytes", "active_requests", "active_bytes")


class Duration:
    """How long calls took, in whole microseconds."""

    def __init__(self) -> None:
        self.total = 0
        self.max = 0
        self.min = 0
        self.count = 0

    def add(self, elapsed_us: float) -> None:
        """Count one call."""
        elapsed = int(elapsed_us)
        self.total += elapsed
        self.max = max(self.max, elapsed)
        self.min = elapsed if self.count == 0 else min(self.min, elapsed)
        self.count += 1

    def as_dict(self) -> dict[str, int]:
        """Return the five figures under PyTorch's names."""
        average = self.total // self.count if self.count else 0
        return {"total": self.total, "max": self.max, "min": self.min, "count": self.count, "avg": average}


class PinnedStatistics:
    """All figures of the allocator of pinned memory.

    Source: ``HostStats`` in ATen/core/CachingHostAllocator.h, torch 2.13.
    """

    def __init__(self) -> None:
        self.allocations = Gauge()
        self.allocated_bytes = Gauge()
        self.active_requests = Gauge()
        self.active_bytes = Gauge()
        self.num_host_alloc = 0
        self.num_host_free = 0
        self.host_alloc_time = Duration()
        self.host_free_time = Duration()

    def count_begin(self, size: int) -> None:
        """Count a block that was handed out."""
        self.active_requests.grow(1)
        self.active_bytes.grow(size)

    def count_end(self, size: int) -> None:
        """Count a block that nobody uses any more."""
        self.active_requests.shrink(1)
        self.active_bytes.shrink(size)

    def count_driver_begin(self, size: int, elapsed_us: float) -> None:
        """Count a block that came from the driver."""
        self.allocations.grow(1)
        self.allocated_bytes.grow(size)
        self.num_host_alloc += 1
        self.host_alloc_time.add(elapsed_us)

    def count_driver_end(self, size: int, elapsed_us: float) -> None:
        """Count a block that went back to the driver."""
        self.allocations.shrink(1)
        self.allocated_bytes.shrink(size)
        self.num_host_free += 1
        self.host_free_time.add(elapsed_us)

    def as_nested(self) -> dict[str, object]:
        """Return what ``torch.cuda.host_memory_stats_as_nested_dict`` returns."""
        nested: dict[str, object] = {name: getattr(self, name).as_dict() for name in GAUGES}
        nested["num_host_alloc"] = self.num_host_alloc
        nested["num_host_free"] = self.num_host_free
        nested["host_alloc_time"] = self.host_alloc_time.as_dict()
        nested["host_free_time"] = self.host_free_time.as_dict()
        return nested

    def reset_peaks(self) -> None:
        """Start all peaks anew from the current values."""
        for name in GAUGES:
            gauge: Gauge = getattr(self, name)
            gauge.peak = gauge.current

    def reset_accumulated(self) -> None:
        """Start all sums, counters and times anew from 0."""
        for name in GAUGES:
            gauge: Gauge = getattr(self, name)
            gauge.reset_sums()
        self.num_host_alloc = 0
        self.num_host_free = 0
        self.host_alloc_time = Duration()
        self.host_free_time = Duration()
