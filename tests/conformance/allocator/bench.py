"""What the tests of the rules share: an allocator on a small device whose events the test ends."""

from __future__ import annotations

from collections.abc import Callable

from judge.devices.sim.allocator import CachingAllocator, LinearDriver, parse_options
from judge.devices.sim.allocator.history import History
from tests.conformance.allocator.replay import SwitchedEvents

MIB = 1 << 20
BASE = 0x10_0000_0000


class Bench:
    """An allocator, and what it stands on.

    Args:
        conf: the configuration string.
        total: bytes of the device.
        is_capturing: whether the current stream is being captured.
    """

    def __init__(
        self, conf: str = "", *, total: int = 1024 * MIB, is_capturing: Callable[[], bool] = lambda: False
    ) -> None:
        self.time_us = 0
        self.frames = [{"filename": "train.py", "line": 7, "name": "step"}]
        self.driver = LinearDriver(total, base=BASE)
        self.events = SwitchedEvents()
        self.history = History(lambda: self.frames, self.tick)
        self.allocator = CachingAllocator(
            self.driver,
            self.events,
            settings=parse_options(conf),
            history=self.history,
            is_capturing=is_capturing,
        )

    def tick(self) -> int:
        """Return the time, which goes on by 1 µs a call."""
        self.time_us += 1
        return self.time_us

    def malloc(self, size: int, stream: int = 0) -> int:
        """Return the offset of a new block from the first address of the device; -base when there is none."""
        return self.allocator.malloc(size, stream) - BASE

    def free(self, offset: int) -> None:
        """Free the block at an offset."""
        self.allocator.free(BASE + offset)

    def record_stream(self, offset: int, stream: int) -> None:
        """Note that a stream uses the block at an offset."""
        self.allocator.record_stream(BASE + offset, stream)

    def blocks(self) -> list[list[tuple[int, int, str]]]:
        """Return offset, size and state of each block, segment by segment."""
        return [
            [(block["address"] - BASE, block["size"], block["state"]) for block in segment["blocks"]]
            for segment in self.allocator.memory_snapshot()
        ]

    def reserved(self) -> int:
        """Return the bytes held from the driver."""
        return self.allocator.memory_reserved()

    def stat(self, name: str) -> int:
        """Return one figure of the statistics."""
        return self.allocator.memory_stats()[name]
