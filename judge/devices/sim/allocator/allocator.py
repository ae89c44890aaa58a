"""The caching allocator of one simulated device."""

from __future__ import annotations

from collections.abc import Callable

from judge.devices.sim.allocator.blocks import Block
from judge.devices.sim.allocator.books import Books
from judge.devices.sim.allocator.deferral import CaptureFrees
from judge.devices.sim.allocator.driver import Driver
from judge.devices.sim.allocator.events import EventSource, PendingFrees
from judge.devices.sim.allocator.expandable import ExpandableSegments
from judge.devices.sim.allocator.history import History
from judge.devices.sim.allocator.occupancy import Occupancy
from judge.devices.sim.allocator.oom import REQUEST_LIMIT_BYTES, OutOfMemory
from judge.devices.sim.allocator.pools import DEFAULT_POOL, PoolId
from judge.devices.sim.allocator.routing import Routing
from judge.devices.sim.allocator.segments import Segments
from judge.devices.sim.allocator.settings import Settings
from judge.devices.sim.allocator.sizes import MIN_BLOCK_BYTES, SMALL_LIMIT_BYTES, round_size
from judge.devices.sim.allocator.snapshot import SegmentInfo, describe_segments
from judge.devices.sim.allocator.standby import Standby
from judge.devices.sim.allocator.statistics import Nested, Statistics
from judge.devices.sim.allocator.supply import OutOfMemoryObserver, Supply


class CachingAllocator:
    """Hands out device memory by PyTorch's rules, and keeps what is freed for the next request.

    Args:
        driver: where memory comes from.
        events: the device's events, for memory that other streams use.
        settings: those to begin with.
        history: where trace entries go.
        is_capturing: tells whether the current stream is being captured into a graph.
        device: index of the device.

    Source: c10/cuda/CUDACachingAllocator.cpp, torch 2.13.
    """

    def __init__(
        self,
        driver: Driver,
        events: EventSource,
        *,
        settings: Settings | None = None,
        history: History | None = None,
        is_capturing: Callable[[], bool] = lambda: False,
        device: int = 0,
    ) -> None:
        self.history = history or History()
        self.routing = Routing()
        """The private pools: ``hold``, ``begin``, ``end``, ``release``."""
        self._books = Books(device, driver, Settings(), self.history)
        self._occupancy = Occupancy(self._books)
        self._standby = Standby(self._books, self.routing, self._occupancy)
        self._pending = PendingFrees(events, self._occupancy.end)
        self._captured = CaptureFrees(self._pending, self._occupancy.end)
        segments = Segments(self._books, ExpandableSegments(self._books, events))
        self._supply = Supply(self._books, self.routing, segments, self._settle_frees)
        self._is_stream_capturing = is_capturing
        self.configure(settings or Settings())

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._books.settings

    @property
    def observers(self) -> list[OutOfMemoryObserver]:
        """Those told before ``OutOfMemory`` is raised; add and remove freely."""
        return self._supply.observers

    def configure(self, settings: Settings) -> None:
        """Take settings into force; blocks that exist stay as they are."""
        self._standby.settle()
        self._books.settings = settings
        self._has_divisions = any(steps > 1 for steps in settings.roundup_divisions)
        if settings.memory_fraction < 1.0:
            self.set_memory_fraction(settings.memory_fraction)

    def set_memory_fraction(self, fraction: float) -> None:
        """Allow only a share of the device's memory to be reserved (``set_per_process_memory_fraction``).

        Raises:
            ValueError: the share is not within 0 and 1.
        """
        if not 0.0 <= fraction <= 1.0:
            raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
        self._standby.settle()
        total = self._books.driver.total_bytes
        self._books.limit_bytes = int(fraction * total) if fraction < 1.0 else None

    def malloc(self, size: int, stream: int = 0) -> int:
        """Return the address of a block for work on a stream.

        Args:
            size: bytes asked for.
            stream: handle of the stream; 0 is the default stream.

        Returns:
            0 when no bytes were asked for.

        Raises:
            OutOfMemory: the driver refused, also after all that is unused had gone back.

        Synchronises: only when the cache is flushed because memory ran out.
        """
        return self.take_block(size, stream).address if size else 0

    def take_block(self, size: int, stream: int) -> Block:
        """Do what ``malloc`` does for a request of at least one byte, and return the block."""
        if size >= REQUEST_LIMIT_BYTES:
            raise OutOfMemory("CUDA out of memory. Tried to allocate more than 1EB memory.")
        # Written for speed: every tensor pays for it. What mostly is not so is looked at before anything is called.
        books = self._books
        settings = books.settings
        rounded = (size + MIN_BLOCK_BYTES - 1) & -MIN_BLOCK_BYTES
        if self._has_divisions:
            rounded = round_size(size, settings.roundup_divisions)
        is_pending = self._pending.queues or self._captured.blocks
        if self._standby.block is not None:
            if is_pending:
                self._standby.settle()
            elif (again := self._standby.take_again(rounded, size, stream)) is not None:
                return again
        routing = self.routing
        is_captured = False
        if routing.underway and self._is_stream_capturing():
            is_captured = True
        elif is_pending:
            self._poll_frees()
        if routing.underway:
            pool = routing.pick(rounded, stream)
        else:
            pool = routing.small if rounded <= SMALL_LIMIT_BYTES else routing.large
        frames = self.history.gather("state") if self.history.is_recording else None
        if books.limit_bytes is not None and books.has_collection:
            pool.search_count += 1
        block = pool.take(rounded, stream, settings)
        if block is None:
            block = self._supply.obtain(pool, rounded, stream, frames, is_captured=is_captured)
        return self._occupancy.begin(block, rounded, size, frames)

    def free(self, address: int) -> None:
        """Take a block back; it is merged and reusable at once unless other streams were recorded.

        Raises:
            RuntimeError: no block that is handed out starts there; PyTorch's text.

        Synchronises: no.
        """
        if address:
            self.give_block(self.find(address))

    def give_block(self, block: Block) -> None:
        """Do what ``free`` does for a block that is handed out."""
        standby = self._standby
        if standby.block is not None:
            standby.settle()
        if not block.users and standby.keep(block):
            return
        frames = self.history.gather("all") if self.history.is_recording else None
        occupancy = self._occupancy
        occupancy.request_end(block, frames)
        if not block.users:
            occupancy.end(block, frames)
        elif self._is_captured():
            self._captured.defer(block)
        else:
            self._pending.defer(block)

    def record_stream(self, address: int, stream: int) -> None:
        """Note that a stream uses a block, so that its memory outlives work queued there when it is freed.

        Args:
            address: of the block's first byte; 0 is ignored.
            stream: the user; the block's own stream is ignored.

        Raises:
            RuntimeError: no block that is handed out starts there; PyTorch's text.
        """
        if address == 0:
            return
        block = self.find(address)
        if stream == block.stream:
            return
        block.users = block.users or {}
        block.users[stream] = None
        if self._is_captured():
            self._captured.record(block, stream)

    def find(self, address: int) -> Block:
        """Return the block that starts at an address and is handed out.

        Raises:
            RuntimeError: there is none; PyTorch's text.
        """
        if self._standby.block is not None:
            self._standby.settle()
        block = self._occupancy.blocks.get(address)
        if block is None or not block.is_allocated:
            raise RuntimeError(f"invalid device pointer: {address:#x}")
        return block

    def empty_cache(self, pool_id: PoolId = DEFAULT_POOL) -> None:
        """Give all unused segments back: those of the default pools and of pools without holders, or of one pool.

        Synchronises: yes, if frees are pending (``cudaEventSynchronize``).
        """
        self._standby.settle()
        self._supply.flush(pool_id, self.history.gather("all"), is_captured=self._is_captured())

    def memory_allocated(self) -> int:
        """Return the bytes of all blocks that are handed out."""
        return self._settled().allocated_bytes.current

    def memory_reserved(self) -> int:
        """Return the bytes of all memory held from the driver."""
        return self._books.reserved_bytes

    def memory_stats(self) -> dict[str, int]:
        """Return what ``torch.cuda.memory_stats`` returns."""
        return self._settled().as_flat(self.settings.max_split_bytes if self.settings.has_split_limit else -1)

    def memory_stats_as_nested(self) -> Nested:
        """Return what ``torch.cuda.memory_stats_as_nested_dict`` returns, with pool ids written as ``0_1``."""
        return self._settled().as_nested(self.settings.max_split_bytes if self.settings.has_split_limit else -1)

    def reset_peak_memory_stats(self) -> None:
        """Start all peaks anew from the current values."""
        self._settled().reset_peaks()

    def reset_accumulated_memory_stats(self) -> None:
        """Start all sums and counters anew from 0."""
        self._settled().reset_accumulated()

    def memory_snapshot(self, pool_id: PoolId = DEFAULT_POOL) -> list[SegmentInfo]:
        """Return what ``torch.cuda.memory_snapshot`` returns; with an id, only that pool's segments.

        An entry ``snapshot`` is added to the history.
        """
        self._standby.settle()
        blocks = [block for pool in self.routing for block in pool] + list(self._occupancy.blocks.values())
        segments = describe_segments(blocks, self._books.device)
        total_active = sum(segment["active_size"] for segment in segments)
        self.history.note("snapshot", 0, total_active, 0, None)
        if pool_id == DEFAULT_POOL:
            return segments
        return [segment for segment in segments if segment["segment_pool_id"] == pool_id]

    def snapshot(self) -> dict[str, object]:
        """Return what ``torch.cuda.memory._snapshot`` returns, for this device alone."""
        traces = self.history.entries
        return {
            "segments": self.memory_snapshot(),
            "device_traces": [[] for _ in range(self._books.device)] + [traces],
            "allocator_settings": self.settings.as_snapshot(),
            "external_annotations": [],
        }

    def _settled(self) -> Statistics:
        self._standby.settle()
        return self._books.statistics

    def _is_captured(self) -> bool:
        return bool(self.routing.underway) and self._is_stream_capturing()

    def _poll_frees(self) -> None:
        if self._captured.blocks:
            self._captured.end()
        if self._pending.queues:
            self._pending.poll()

    def _settle_frees(self) -> None:
        self._captured.end()
        self._pending.flush()
