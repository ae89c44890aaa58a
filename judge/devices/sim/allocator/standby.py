"""The block that was freed last, kept as it was in case the next request would get it back just so."""

from __future__ import annotations

from judge.devices.sim.allocator.blocks import Block
from judge.devices.sim.allocator.books import Books
from judge.devices.sim.allocator.occupancy import Occupancy
from judge.devices.sim.allocator.routing import Routing
from judge.devices.sim.allocator.statistics import SMALL


class Standby:
    """Puts off the last free.

    Programs free a block and ask for another of that size all the time: the block would be merged with what lies behind
    it, put into its pool, found there and cut off again. Where it is certain that all this ends where it began, only
    the figures are entered. It decides nothing: in every other case, and before anybody looks, :meth:`settle` lets the
    free take place by the ordinary rules. Only blocks of the default pool for small requests stand by.

    Args:
        books: what is written into.
        routing: the pools.
        occupancy: ends the block's time in use.
    """

    def __init__(self, books: Books, routing: Routing, occupancy: Occupancy) -> None:
        self._books = books
        self._routing = routing
        self._occupancy = occupancy
        self.block: Block | None = None
        """A block that its owner gave up while nothing was recorded, and that no other stream uses."""

    def keep(self, block: Block) -> bool:
        """Put off the free of a block that no other stream uses, if that can be; none may be kept already."""
        if (
            block.pool is not self._routing.small
            or block.span is not None
            or self._routing.underway
            or self._books.history.is_recording
        ):
            return False
        self.block = block
        return True

    def settle(self) -> None:
        """Let the free take place."""
        block, self.block = self.block, None
        if block is None:
            return
        history = self._books.history
        is_recording, history.is_recording = history.is_recording, False  # it may have begun since
        self._occupancy.request_end(block, None)
        self._occupancy.end(block)
        history.is_recording = is_recording

    def take_again(self, size: int, requested: int, stream: int) -> Block | None:
        """Return the block that is kept if a request would get it back; otherwise let its free take place.

        No frees may be pending that the request would look at first.

        Args:
            size: rounded bytes.
            requested: bytes asked for.
            stream: of the request.
        """
        block = self.block
        if block is None:
            return None
        following = block.next
        if following is not None and following.is_allocated:
            following = None
        if block.size != size or block.stream != stream or not self._would_come_back(block, following):
            self.settle()
            return None
        self.block = None
        self._count(block, following, requested)
        if following is not None:
            following.requested = block.requested  # as the rest of a block that was cut
            following.age_base = block.pool.search_count
        block.requested = requested
        block.frames = None
        return block

    def _would_come_back(self, block: Block, following: Block | None) -> bool:
        """Tell whether the request gets the block.

        Args:
            block: the one that is kept.
            following: the free block behind it, with which it would be merged.
        """
        books = self._books
        if books.limit_bytes is not None or books.settings.has_split_limit:
            return False
        if self._routing.underway or books.history.is_recording:
            return False
        previous = block.previous
        if previous is not None and not previous.is_allocated:
            return False
        if following is None:
            return block.pool.would_take(block)
        if block.segment_frames is not None or following.segment_frames is not None:
            return False
        return block.pool.would_take_whole(block, following)

    def _count(self, block: Block, following: Block | None, requested: int) -> None:
        """Enter what the free and the request would have entered, one after the other."""
        statistics = self._books.statistics
        size = block.size
        statistics.count_again(SMALL, size, block.requested, requested)
        if following is None:
            if block.previous is not None or block.next is not None:
                statistics.inactive_split.pass_through(1, SMALL)
                statistics.inactive_split_bytes.pass_through(size, SMALL)
        elif block.previous is not None or following.next is not None:
            statistics.inactive_split_bytes.pass_through(size, SMALL)
        else:  # the segment was one free block for a moment
            statistics.inactive_split_bytes.gauges[SMALL].allocated += following.size
            statistics.inactive_split.gauges[SMALL].allocated += 1
