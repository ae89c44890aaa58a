"""Memory snapshots and the history of allocations. (torch)"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from judge.devices.sim.allocator.pools import DEFAULT_POOL

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine


class HistoryCalls:
    """Stands for the functions of the same names in ``torch._C``.

    Args:
        machine: whose memory.

    Source: torch/csrc/cuda/memory_snapshot.cpp and torch/csrc/cuda/Module.cpp, torch 2.13.
    """

    def __init__(self, machine: Machine) -> None:
        self._memory = machine.memory

    def as_functions(self) -> dict[str, Callable[..., Any]]:
        """Return them by their names there."""
        return {
            "_cuda_memorySnapshot": self.snapshot,
            "_cuda_record_memory_history": self.record,
            "_cuda_record_memory_history_legacy": self.record_legacy,
            "_cuda_isHistoryEnabled": self.is_recording,
            "_cuda_allocationTraceback": self.find_frames,
            "_cuda_setMemoryMetadata": self.set_metadata,
            "_cuda_getMemoryMetadata": self.get_metadata,
        }

    def snapshot(self, wanted: Sequence[int] | None = None) -> dict[str, Any]:
        """Return the state of the device's memory in PyTorch's format.

        Args:
            wanted: both halves of a private pool's id, of which only the segments are returned then, and whether
                trace entries are included; ``(0, 0)`` and ``None`` stand for all pools.
        """
        memory = self._memory
        memory.lifetimes.settle()
        found: dict[str, Any] = memory.allocator.snapshot()
        if wanted is None:
            return found
        pool_id = (wanted[0], wanted[1])
        if pool_id != DEFAULT_POOL:
            found["segments"] = [part for part in found["segments"] if part["segment_pool_id"] == pool_id]
        if len(wanted) > 2 and not wanted[2]:
            found["device_traces"] = [[] for _ in found["device_traces"]]
        return found

    def record(
        self,
        enabled: str | None,
        context: str | None = "all",
        stacks: str = "all",
        max_entries: int = 1,
        clear_history: bool = False,
        *others: Any,  # noqa: ANN401  # they differ by version
    ) -> None:
        """Record the history of allocations from now on, or stop and forget it when ``enabled`` is ``None``.

        Raises:
            RuntimeError: an argument has none of its values; PyTorch's text.
        """
        history = self._memory.allocator.history
        if enabled is None:
            history.stop()
            return
        if stacks not in ("python", "all"):
            raise RuntimeError("expected stacks to be 'python', or 'all'")
        history.start(
            enabled,
            context=context,
            max_entries=max_entries,
            clear_history=clear_history,
            skip_actions=others[2] if len(others) > 2 else (),
        )

    def record_legacy(
        self,
        enabled: bool,
        record_context: bool = True,
        max_entries: int = 1,
        record_alloc_context: bool = False,
        _has_cpp_frames: bool = False,
        clear_history: bool = False,
        *others: Any,  # noqa: ANN401  # they differ by version
    ) -> None:
        """Do the same for ``_record_memory_history(True)`` and ``(False)``."""
        context = "alloc" if record_alloc_context else "state" if record_context else None
        self.record("all" if enabled else None, context, "python", max_entries, clear_history, *others)

    def is_recording(self) -> bool:
        """Tell whether the history is being recorded."""
        return bool(self._memory.allocator.history.is_recording)

    def find_frames(self, address: int) -> list[dict[str, Any]] | None:
        """Return the frames that asked for the block that starts at an address; ``None`` where they are not known."""
        try:
            frames = self._memory.find(address).frames
        except RuntimeError:
            return None
        return None if frames is None else list(frames)

    def set_metadata(self, text: str) -> None:
        """Attach a text to trace entries from now on."""
        self._memory.allocator.history.metadata = text

    def get_metadata(self) -> str:
        """Return the text that is attached to trace entries."""
        return str(self._memory.allocator.history.metadata)
