"""What all parts of one device's allocator write into."""

from __future__ import annotations

from dataclasses import dataclass, field

from judge.devices.sim.allocator.blocks import Block
from judge.devices.sim.allocator.driver import Driver
from judge.devices.sim.allocator.history import Frames, History
from judge.devices.sim.allocator.pools import DEFAULT_POOL, BlockPool
from judge.devices.sim.allocator.settings import Settings
from judge.devices.sim.allocator.statistics import LARGE, SMALL, Metric, Statistics


@dataclass
class Books:
    """The allocator's settings, figures and history.

    Args:
        device: index of the device.
        driver: where memory comes from.
        settings: those in force.
        history: where trace entries go.
    """

    device: int
    driver: Driver
    settings: Settings
    history: History
    statistics: Statistics = field(default_factory=Statistics)
    reserved_bytes: int = 0
    limit_bytes: int | None = None
    """What a memory fraction allows to be reserved; ``None`` without one."""

    @property
    def has_collection(self) -> bool:
        """Whether unused segments are given back before memory runs out."""
        return self.limit_bytes is not None and self.settings.collection_threshold > 0.0

    def has_room(self, size: int) -> bool:
        """Tell whether ``size`` more bytes stay within the memory fraction."""
        return self.limit_bytes is None or self.reserved_bytes + size <= self.limit_bytes

    def grow_reserved(self, pool: BlockPool, size: int) -> None:
        """Count memory that came from the driver."""
        self.statistics.num_device_alloc += 1
        self.reserved_bytes += size
        self.statistics.reserved_bytes.grow(size, kind_of(pool))
        if pool.owner is not None:
            pool.owner.reserved_bytes += size
            by_pool = self.statistics.reserved_by_pool.setdefault(pool.owner.id, Metric())
            by_pool.grow(size, kind_of(pool))

    def shrink_reserved(self, pool: BlockPool, size: int) -> None:
        """Count memory that goes back to the driver."""
        self.statistics.num_device_free += 1
        self.reserved_bytes -= size
        self.statistics.reserved_bytes.shrink(size, kind_of(pool))
        if pool.owner is not None:
            pool.owner.reserved_bytes -= size
            self.statistics.reserved_by_pool[pool.owner.id].shrink(size, kind_of(pool))

    def note_segment(self, action: str, block: Block, frames: Frames | None) -> None:
        """Enter into the history what happened to a segment, or to a part of one."""
        if self.history.is_recording:
            owner = block.pool.owner
            pool_id = DEFAULT_POOL if owner is None else owner.id
            self.history.note(action, block.address, block.size, block.stream, frames, pool_id)


def kind_of(pool: BlockPool) -> int:
    """Return the place of a pool's figures in a metric."""
    return SMALL if pool.is_small else LARGE
