"""Frees during a graph capture, which may not query events: they wait for its end."""

from __future__ import annotations

from collections.abc import Callable

from judge.devices.sim.allocator.blocks import Block
from judge.devices.sim.allocator.events import PendingFrees


class CaptureFrees:
    """Blocks with recorded streams that were freed while the current stream was captured.

    Args:
        pending: where they go when the capture is over.
        complete: called with a block that has no use left.

    Source: ``deferred_blocks`` in c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
    """

    def __init__(self, pending: PendingFrees, complete: Callable[[Block], None]) -> None:
        self._pending = pending
        self._complete = complete
        self.blocks: list[Block] = []
        """Those that wait for the end of the capture."""
        self._uses: dict[Block, set[int]] = {}

    def record(self, block: Block, stream: int) -> None:
        """Note a use that is only recorded into the graph: it puts no work on the stream."""
        self._uses.setdefault(block, set()).add(stream)

    def defer(self, block: Block) -> None:
        """Keep a freed block until the capture is over."""
        self.blocks.append(block)

    def end(self) -> None:
        """Treat the frees as made now; uses that were recorded during the capture count for nothing."""
        blocks, self.blocks = self.blocks, []
        for block in blocks:
            for stream in self._uses.pop(block, ()):
                (block.users or {}).pop(stream, None)
            self._pending.defer(block)
            if block.event_count == 0:
                self._complete(block)
