"""The allocator's statistics, as ``torch.cuda.memory_stats`` shows them."""

from __future__ import annotations

from judge.devices.sim.allocator.pools import PoolId

SMALL, LARGE = 0, 1
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
    """One gauge for each kind of pool. What all pools hold together is their sum; only its peak is kept beside them."""

    __slots__ = ("gauges", "peak")

    def __init__(self) -> None:
        self.gauges = (Gauge(), Gauge())
        self.peak = 0
        """The most that all pools held together."""

    @property
    def current(self) -> int:
        """What all pools hold together."""
        small, large = self.gauges
        return small.current + large.current

    def grow(self, amount: int, kind: int) -> None:
        """Add an amount in the pools of a kind, ``SMALL`` or ``LARGE``."""
        self.gauges[kind].grow(amount)
        current = self.current
        if current > self.peak:
            self.peak = current

    def shrink(self, amount: int, kind: int) -> None:
        """Take an amount away in the pools of a kind, ``SMALL`` or ``LARGE``."""
        self.gauges[kind].current -= amount

    def pass_through(self, amount: int, kind: int) -> None:
        """Add an amount and take it away again."""
        gauge = self.gauges[kind]
        gauge.allocated += amount
        peak = gauge.current + amount
        if peak > gauge.peak:
            gauge.peak = peak
        peak = self.current + amount
        if peak > self.peak:
            self.peak = peak

    def reset_peak(self) -> None:
        """Start the peaks anew from the current values."""
        self.peak = self.current
        for gauge in self.gauges:
            gauge.peak = gauge.current

    def reset_sums(self) -> None:
        """Start what was added and taken anew from 0."""
        for gauge in self.gauges:
            gauge.reset_sums()

    def as_dict(self) -> Nested:
        """Return the figures under PyTorch's names."""
        small, large = self.gauges
        together: Nested = {
            "current": self.current,
            "peak": self.peak,
            "allocated": small.allocated + large.allocated,
            "freed": small.freed + large.freed,
        }
        return {"all": together, "small_pool": small.as_dict(), "large_pool": large.as_dict()}


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

        of_blocks = (self.allocation, self.active, self.allocated_bytes, self.active_bytes, self.requested_bytes)
        self._of_blocks = tuple(
            tuple((metric, metric.gauges[kind], metric.gauges[1 - kind]) for metric in of_blocks)
            for kind in (SMALL, LARGE)
        )
        """By kind, what follows a block's life, each with the gauges of that kind and of the other."""

    def count_begin(self, kind: int, size: int, requested: int) -> None:
        """Count a block that is handed out, in one step because every allocation pays for it.

        Args:
            kind: of its pool, ``SMALL`` or ``LARGE``.
            size: bytes of the block.
            requested: bytes asked for.
        """
        amounts = (1, 1, size, size, requested)
        for (metric, gauge, other), amount in zip(self._of_blocks[kind], amounts, strict=True):
            gauge.allocated += amount  # Metric.grow, without its calls
            current = gauge.current = gauge.current + amount
            if current > gauge.peak:
                gauge.peak = current
            current += other.current
            if current > metric.peak:
                metric.peak = current

    def count_again(self, kind: int, size: int, before: int, requested: int) -> None:
        """Count a block that ends and is handed out again: what is held now only differs in the bytes asked for.

        Args:
            kind: of its pool, ``SMALL`` or ``LARGE``.
            size: bytes of the block.
            before: bytes that its last owner asked for.
            requested: bytes asked for now.
        """
        self.allocation.gauges[kind].allocated += 1
        self.active.gauges[kind].allocated += 1
        self.allocated_bytes.gauges[kind].allocated += size
        self.active_bytes.gauges[kind].allocated += size
        if requested == before:
            self.requested_bytes.gauges[kind].allocated += requested
        else:
            self.requested_bytes.shrink(before, kind)
            self.requested_bytes.grow(requested, kind)

    def count_request_end(self, kind: int, size: int) -> None:
        """Count a block that its owner gives up.

        Args:
            kind: of its pool, ``SMALL`` or ``LARGE``.
            size: bytes of the block.
        """
        self.allocation.gauges[kind].current -= 1
        self.allocated_bytes.gauges[kind].current -= size

    def count_end(self, kind: int, size: int, requested: int) -> None:
        """Count a block that nobody owns or uses any more.

        Args:
            kind: of its pool, ``SMALL`` or ``LARGE``.
            size: bytes of the block.
            requested: bytes asked for.
        """
        self.active.gauges[kind].current -= 1
        self.active_bytes.gauges[kind].current -= size
        self.requested_bytes.gauges[kind].current -= requested

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
        for metric in self._metrics():
            metric.reset_peak()
        for gauge in (self.oversize_allocations, self.oversize_segments):
            gauge.peak = gauge.current

    def reset_accumulated(self) -> None:
        """Start all sums and counters anew from 0."""
        for metric in self._metrics():
            metric.reset_sums()
        for gauge in (self.oversize_allocations, self.oversize_segments):
            gauge.reset_sums()
        for name in COUNTERS:
            setattr(self, name, 0)

    def _metrics(self) -> list[Metric]:
        return [getattr(self, name) for name in METRICS] + list(self.reserved_by_pool.values())


def _flatten(nested: Nested, prefix: str, flat: dict[str, int]) -> None:
    for key, value in nested.items():
        if isinstance(value, dict):
            _flatten(value, f"{prefix}{key}.", flat)
        else:
            flat[f"{prefix}{key}"] = value
