"""Play a recording of PyTorch's allocator back through ``torch``."""

from __future__ import annotations

from typing import Any

from tests.conformance.allocator.replay import load

__all__ = ["Player", "load"]


class Player:
    """One recording on its way through torch.

    Attributes:
        hold_cycles: what a stream is kept busy with; the recordings' 150 ms at 1.98 GHz.

    Args:
        torch: with a device under it.
        recording: the recording that the trace is from.
        is_raw: whether it was made with ``caching_allocator_alloc`` instead of ``torch.empty``.
    """

    hold_cycles = 150_000 * 1980

    def __init__(self, torch: Any, recording: dict[str, Any], *, is_raw: bool) -> None:
        self.torch = torch
        self.is_raw = is_raw
        if recording.get("conf"):
            torch._C._accelerator_setAllocatorSettings(recording["conf"])
        if recording.get("cap"):
            total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction(recording["cap"] / total)
        self.streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(4))]
        self.held: dict[int, Any] = {}
        self.busy: set[int] = set()

    def move(self, address: int | None) -> None:
        """Make the next segment begin at a recorded address; without one, there is no memory for it."""
        raise NotImplementedError

    def translate(self, address: int) -> int:
        """Return the recorded address that one of this device stands for."""
        raise NotImplementedError

    def play(self, event: list[Any]) -> list[Any]:
        """Do what an event says, and return the event as it went here."""
        action = event[0]
        if action == "malloc":
            self.move(event[4])
            return [*event[:4], self.translate(self._malloc(event)), *self._figures()]
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
                self.torch.cuda._sleep(self.hold_cycles)
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
        self.move(None)
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
        names = {stream.cuda_stream: index for index, stream in enumerate(self.streams)}
        return [
            {
                "addr": self.translate(segment["address"]),
                "size": segment["total_size"],
                "stream": names[segment["stream"]],
                "type": segment["segment_type"],
                "blocks": [
                    [self.translate(block["address"]), block["size"], block["requested_size"], block["state"]]
                    for block in segment["blocks"]
                ],
            }
            for segment in self.torch.cuda.memory_snapshot()
        ]
