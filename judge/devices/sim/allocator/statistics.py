"""The allocator's statistics, as ``torch.cuda.memory_stats`` shows them."""

from __future__ import annotations

from judge.devices.sim.allocator.pools import PoolId

ALL, SMALL, LARGE = 0, 1, 2
KINDS = ("all", "small_pool", "large_pool")
METRICS = (
    "allocation",
    "segment",
    "active",
    "inactive_split",
    "allocated_bytes",
    "reserved_bytes",
    "active_bytes",
    "inactive_split_bytes",
    "requested_bytes",
)
COUNTERS = (
    "num_alloc_retries",
    "num_ooms",
    "num_sync_all_streams",
    "num_device_alloc",
    "num_device_free",
    "num_oom_rejections",
)

Nested = dict[str, "int | Nested"]


class Gauge:
    """A quantity over time: what it is, the most it was, and all that was added and taken."""

    __slots__ = ("_base", "allocated", "current", "peak")

    def __init__(self) -> None:
        self.current = 0
        self.peak = 0
        self.allocated = 0
        self._base = 0
        """What it was when the sums last began at 0."""

    @property
    def freed(self) -> int:
        """All that was taken away: it follows from the other figures, so that taking away costs little."""
        return self._base + self.allocated - self.current

    def grow(self, amount: int) -> None:
        """Add an amount."""
        self.allocated += amount
        current = self.current = self.current + amount
        if current > self.peak:
            self.peak = current

    def shrink(self, amount: int) -> None:
        """Take an amount away."""
        self.current -= amount

    def reset_sums(self) -> None:
        """Start what was added and taken anew from 0."""
        self.allocated = 0
        self._base = self.current

    def as_dict(self) -> Nested:
        """Return the four figures under PyTorch's names."""
        return {"current": self.current, "peak": self.peak, "allocated": self.allocated, "freed": self.freed}


class Metric:
    """One gauge for all pools together, and one for each kind of pool."""

    __slots__ = ("gauges",)

    def __init__(self) -> None:
        self.gauges = (Gauge(), Gauge(), Gauge())

    def grow(self, amount: int, kind: int) -> None:
        """Add an amount in the pools of a kind, ``SMALL`` or ``LARGE``."""
        gauges = self.gauges
        gauges[ALL].grow(amount)
        gauges[kind].grow(amount)

    def shrink(self, amount: int, kind: int) -> None:
        """Take an amount away in the pools of a kind, ``SMALL`` or ``LARGE``."""
        for gauge in (self.gauges[ALL], self.gauges[kind]):
            gauge.current -= amount

    def as_dict(self) -> Nested:
        """Return the figures under PyTorch's names."""
        return {name: gauge.as_dict() for name, gauge in zip(KINDS, self.gauges, strict=True)}


class Statistics:
    """All gauges and counters of one device's allocator.

    Source: ``DeviceStats`` in c10/core/CachingDeviceAllocator.h, torch 2.13.
    """

    def __init__(self) -> None:
        self.allocation = Metric()
        self.segment = Metric()
        self.active = Metric()
        self.inactive_split = Metric()
        self.allocated_bytes = Metric()
        self.reserved_bytes = Metric()
        self.active_bytes = Metric()
        self.inactive_split_bytes = Metric()
        self.requested_bytes = Metric()
        self.oversize_allocations = Gauge()
        self.oversize_segments = Gauge()
        self.reserved_by_pool: dict[PoolId, Metric] = {}
        self.num_alloc_retries = 0
        self.num_ooms = 0
        self.num_sync_all_streams = 0
        self.num_device_alloc = 0
        self.num_device_free = 0
        self.num_oom_rejections = 0

        self._allocation = self._pair_gauges(self.allocation)
        self._allocated = self._pair_gauges(self.allocated_bytes)
        self._active = self._pair_gauges(self.active)
        self._active_sized = self._pair_gauges(self.active_bytes)
        self._counted = self._pair_gauges(self.allocation, self.active)
        self._sized = self._pair_gauges(self.allocated_bytes, self.active_bytes)
        self._requested = self._pair_gauges(self.requested_bytes)

    def count_begin(self, kind: int, size: int, requested: int) -> None:
        """Count a block that is handed out, in one step because every allocation pays for it.

        Args:
            kind: of its pool, ``SMALL`` or ``LARGE``.
            size: bytes of the block.
            requested: bytes asked for.
        """
        for gauges, amount in (
            (self._counted[kind], 1),
            (self._sized[kind], size),
            (self._requested[kind], requested),
        ):
            for gauge in gauges:
                gauge.allocated += amount
                current = gauge.current = gauge.current + amount
                if current > gauge.peak:
                    gauge.peak = current

    def count_request_end(self, kind: int, size: int) -> None:
        """Count a block that its owner gives up, in one step for the same reason.

        Args:
            kind: of its pool, ``SMALL`` or ``LARGE``.
            size: bytes of the block.
        """
        for gauge in self._allocation[kind]:
            gauge.current -= 1
        for gauge in self._allocated[kind]:
            gauge.current -= size

    def count_end(self, kind: int, size: int, requested: int) -> None:
        """Count a block that nobody owns or uses any more.

        Args:
            kind: of its pool, ``SMALL`` or ``LARGE``.
            size: bytes of the block.
            requested: bytes asked for.
        """
        for gauge in self._active[kind]:
            gauge.current -= 1
        for gauge in self._active_sized[kind]:
            gauge.current -= size
        for gauge in self._requested[kind]:
            gauge.current -= requested

    @staticmethod
    def _pair_gauges(*metrics: Metric) -> tuple[tuple[Gauge, ...], ...]:
        """Return, by kind, the gauges of that kind and those of all kinds."""
        return tuple(
            tuple(gauge for metric in metrics for gauge in (metric.gauges[ALL], metric.gauges[kind]))
            for kind in range(len(KINDS))
        )

    def as_nested(self, max_split_bytes: int) -> Nested:
        """Return what ``torch.cuda.memory_stats_as_nested_dict`` returns, with pool ids written as ``0_1``.

        Args:
            max_split_bytes: the setting in force; -1 where there is no limit.
        """
        nested: Nested = {name: getattr(self, name) for name in COUNTERS}
        nested["max_split_size"] = max_split_bytes
        for name in METRICS:
            nested[name] = getattr(self, name).as_dict()
        nested["oversize_allocations"] = self.oversize_allocations.as_dict()
        nested["oversize_segments"] = self.oversize_segments.as_dict()
        nested["reserved_bytes_by_private_pools"] = {
            f"{first}_{second}": metric.as_dict() for (first, second), metric in self.reserved_by_pool.items()
        }
        return nested

    def as_flat(self, max_split_bytes: int) -> dict[str, int]:
        """Return what ``torch.cuda.memory_stats`` returns: ``active.all.current`` and so on, sorted."""
        flat: dict[str, int] = {}
        _flatten(self.as_nested(max_split_bytes), "", flat)
        return dict(sorted(flat.items()))

    def reset_peaks(self) -> None:
        """Start all peaks anew from the current values."""
        for gauge in self._gauges():
            gauge.peak = gauge.current

    def reset_accumulated(self) -> None:
        """Start all sums and counters anew from 0."""
        for gauge in self._gauges():
            gauge.reset_sums()
        for name in COUNTERS:
            setattr(self, name, 0)

    def _gauges(self) -> list[Gauge]:
        metrics = [getattr(self, name) for name in METRICS] + list(self.reserved_by_pool.values())
        return [gauge for metric in metrics for gauge in metric.gauges] + [
            self.oversize_allocations,
            self.oversize_segments,
        ]


def _flatten(nested: Nested, prefix: str, flat: dict[str, int]) -> None:
    for key, value in nested.items():
        if isinstance(value, dict):
            _flatten(value, f"{prefix}{key}.", flat)
        else:
            flat[f"{prefix}{key}"] = value
