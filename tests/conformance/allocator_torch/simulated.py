"""Play a recording of PyTorch's allocator back through ``torch`` on the simulated device."""

from __future__ import annotations

from typing import Any

from judge.devices.sim.allocator.driver import DriverOutOfMemory
from judge.devices.sim.arena_driver import ArenaDriver
from tests.conformance.allocator_torch.recording import Player


class RecordedAddresses(ArenaDriver):
    """Gives segments the recorded addresses, all moved by the same distance into the arena."""

    def __init__(self, memory: Any, total_bytes: int) -> None:
        super().__init__(memory.arena, total_bytes, on_release=memory.driver._on_release)
        self.distance: int | None = None
        self.next_address: int | None = None

    def move(self, address: int) -> int:
        """Return where a recorded address lies here; the first one is put into the middle of the arena."""
        if self.distance is None:
            self.distance = self._middle - (address >> 25 << 25)
        return address + self.distance

    def allocate(self, size: int) -> int:
        """Return the recorded address of the event being played; once, for it has one new segment at most."""
        self._use(size)
        address, self.next_address = self.next_address, None
        if address is None:
            self._used_bytes -= size
            raise DriverOutOfMemory("the real allocator had no second segment here")
        return address

    def release(self, address: int, size: int) -> None:
        """Take a segment back."""
        self._give_back(address, size)

    def reserve(self, size: int) -> int:  # as it was asked for there
        """Return the recorded address."""
        address, self.next_address = self.next_address, None
        assert address is not None
        return address

    def unreserve(self, address: int, size: int) -> None:
        """Forget a range."""


class SimulatedPlayer(Player):
    """Plays on the simulated device, whose driver is given the recorded addresses.

    Args:
        torch: with the simulated device under it.
        machine: the device.
        recording: the recording that the trace is from.
        is_raw: whether it was made with ``caching_allocator_alloc`` instead of ``torch.empty``.
    """

    def __init__(self, torch: Any, machine: Any, recording: dict[str, Any], *, is_raw: bool) -> None:
        memory = machine.memory
        self.driver = RecordedAddresses(memory, torch.cuda.get_device_properties(0).total_memory)
        memory.allocator._books.driver = self.driver
        memory.driver = self.driver
        super().__init__(torch, recording, is_raw=is_raw)

    def move(self, address: int | None) -> None:
        """Make the next segment begin at a recorded address; without one, there is no memory for it."""
        self.driver.next_address = None if address is None else self.driver.move(address)

    def translate(self, address: int) -> int:
        """Return the recorded address that one of the arena stands for."""
        return address - (self.driver.distance or 0)
