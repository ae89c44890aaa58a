"""Play a recording of PyTorch's allocator back through ``torch`` on the simulated device."""

from __future__ import annotations

from typing import Any

from judge.devices.sim.allocator.driver import DriverOutOfMemory
from judge.devices.sim.arena_driver import ArenaDriver
from tests.conformance.allocator.replay import load

HOLD_CYCLES = 150_000 * 1980
"""What the recordings kept a stream busy with: 150 ms at 1.98 GHz."""

__all__ = ["Player", "load"]


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


class Player:
    """One recording on its way through torch.

    Args:
        torch: with the simulated device under it.
        machine: the device.
        recording: the recording that the trace is from.
        is_raw: whether it was made with ``caching_allocator_alloc`` instead of ``torch.empty``.
    """

    def __init__(self, torch: Any, machine: Any, recording: dict[str, Any], *, is_raw: bool) -> None:
        self.torch = torch
        self.is_raw = is_raw
        memory = machine.memory
        total = torch.cuda.get_device_properties(0).total_memory
        self.driver = RecordedAddresses(memory, total)
        memory.allocator._books.driver = self.driver
        memory.driver = self.driver
        if recording.get("conf"):
            torch._C._accelerator_setAllocatorSettings(recording["conf"])
        if recording.get("cap"):
            torch.cuda.set_per_process_memory_fraction(recording["cap"] / total)
        self.streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(4))]
        self.held: dict[int, Any] = {}
        self.busy: set[int] = set()

    def play(self, event: list[Any]) -> list[Any]:
        """Do what an event says, and return the event as it went here."""
        action = event[0]
        if action == "malloc":
            self.driver.next_address = self.driver.move(event[4])
            address = self._malloc(event) - (self.driver.distance or 0)
            return [*event[:4], address, *self._figures()]
        if action == "oom":
            return [self._malloc_in_vain(event), *event[1:4], *self._figures()]
        if action == "free":
            self._free(event[1])
            return [*event[:2], *self._figures()]
        if action == "empty_cache":
            self.torch.cuda.empty_cache()
            return [action, *self._figures()]
        if action == "record_stream":
            self.held[event[1]].record_stream(self.streams[event[2]])
        elif action == "block":
            with self.torch.cuda.stream(self.streams[event[1]]):
                self.torch.cuda._sleep(HOLD_CYCLES)
            self.busy.add(event[1])
        else:
            assert "sync" == action
            for index in self.busy:
                self.streams[index].synchronize()
            self.busy.clear()
        return event

    def _malloc(self, event: list[Any]) -> int:
        torch = self.torch
        _, name, requested, stream = event[:4]
        if self.is_raw:
            self.held[name] = torch.cuda.caching_allocator_alloc(requested, stream=self.streams[stream])
            return self.held[name]
        with torch.cuda.stream(self.streams[stream]):
            self.held[name] = torch.empty(requested, dtype=torch.uint8, device="cuda")
        return self.held[name].data_ptr()

    def _malloc_in_vain(self, event: list[Any]) -> str:
        self.driver.next_address = None
        try:
            self._malloc(event)
        except self.torch.OutOfMemoryError:
            return "oom"
        return "malloc"

    def _free(self, name: int) -> None:
        if self.is_raw:
            self.torch.cuda.caching_allocator_delete(self.held.pop(name))
        else:
            del self.held[name]

    def _figures(self) -> tuple[int, int]:
        return self.torch.cuda.memory_allocated(), self.torch.cuda.memory_reserved()

    def final(self) -> list[dict[str, Any]]:
        """Return the snapshot in the recording's form."""
        distance = self.driver.distance or 0
        names = {stream.cuda_stream: index for index, stream in enumerate(self.streams)}
        return [
            {
                "addr": segment["address"] - distance,
                "size": segment["total_size"],
                "stream": names[segment["stream"]],
                "type": segment["segment_type"],
                "blocks": [
                    [block["address"] - distance, block["size"], block["requested_size"], block["state"]]
                    for block in segment["blocks"]
                ],
            }
            for segment in self.torch.cuda.memory_snapshot()
        ]
