"""A block of device memory, and its neighbours in the same segment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.devices.sim.allocator.history import Frames
    from judge.devices.sim.allocator.pools import BlockPool


@dataclass(frozen=True)
class Span:
    """A range of addresses in which an expandable segment grows.

    Args:
        start: the first address.
        size: bytes, a multiple of ``grain``.
        grain: bytes that are mapped and unmapped at a time.
        stream: of all blocks in it.
    """

    start: int
    size: int
    grain: int
    stream: int


class Block:
    """A piece of a segment; the blocks of a segment are linked and cover it without a gap.

    Args:
        address: of the first byte.
        size: bytes, a multiple of 512.
        stream: whose order makes immediate reuse safe.
        pool: where the block is kept while it is free.
    """

    # The defaults stand on the class, not in the constructor: a block is made for nearly every request.
    requested = 0
    is_allocated = False
    is_mapped = True
    span: Span | None = None
    """The range of addresses of an expandable segment; ``None`` in an ordinary one."""
    previous: Block | None = None
    next: Block | None = None
    users: dict[int, None] | None = None
    """Other streams that used the block, in the order in which they were recorded."""
    event_count = 0
    """Events at the end of those uses that have not been seen done."""
    age_base = 0
    """How often the pool had been searched when the block was last put into it."""
    frames: Frames | None = None
    segment_frames: Frames | None = None

    def __init__(self, address: int, size: int, stream: int, pool: BlockPool) -> None:
        self.address = address
        self.size = size
        self.stream = stream
        self.pool = pool

    def __repr__(self) -> str:
        return f"Block({self.address:#x}, {self.size} bytes, stream {self.stream}, {self.state})"

    @property
    def is_split(self) -> bool:
        """Whether the block shares its segment with others."""
        return self.previous is not None or self.next is not None

    @property
    def is_idle(self) -> bool:
        """Whether nobody owns the block, nor may still be using it."""
        return not self.is_allocated and self.event_count == 0 and not self.users

    @property
    def state(self) -> str:
        """The block's state in a memory snapshot."""
        if self.is_allocated:
            return "active_allocated"
        return "inactive" if self.is_idle else "active_pending_free"

    def cut_front(self, size: int) -> Block:
        """Take the first ``size`` bytes off into a block of their own, and return it; this one keeps the rest."""
        front = Block(self.address, size, self.stream, self.pool)
        if self.span is not None:
            front.span = self.span
            front.is_mapped = self.is_mapped
        previous = front.previous = self.previous
        if previous is not None:
            previous.next = front
        front.next = self
        self.previous = front
        self.address += size
        self.size -= size
        return front

    def link(self, previous: Block | None, following: Block | None) -> None:
        """Stand between two neighbours of the same segment."""
        self.previous = previous
        self.next = following
        if previous is not None:
            previous.next = self
        if following is not None:
            following.previous = self

    def absorb(self, neighbour: Block | None) -> int:
        """Take in a neighbour that is idle, and backed by memory if this block is; it leaves its pool.

        Returns:
            The bytes gained; 0 when there is no such neighbour.
        """
        if neighbour is None or neighbour.is_allocated or neighbour.event_count or neighbour.users:
            return 0
        if neighbour.is_mapped is not self.is_mapped:
            return 0
        neighbour.pool.remove(neighbour)
        if neighbour is self.previous:
            self.address = neighbour.address
            self.segment_frames = neighbour.segment_frames
            self.link(neighbour.previous, self.next)
        else:
            self.link(self.previous, neighbour.next)
        self.size += neighbour.size
        return neighbour.size
