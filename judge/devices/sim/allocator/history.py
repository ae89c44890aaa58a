"""The history of allocations: a ring of trace entries, and the frames that led to them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Literal

from judge.devices.sim.allocator.pools import DEFAULT_POOL, PoolId

Frames = list[dict[str, str | int]]
"""Stack frames, innermost first: ``filename``, ``line``, ``name``."""

Entry = dict[str, Any]
"""A trace entry in PyTorch's format: strings, numbers, a pool id and frames."""

Level = Literal["state", "alloc", "all"]

_RANK: dict[Level | None, int] = {None: 0, "state": 1, "alloc": 2, "all": 3}


def read_wall_clock() -> int:
    """Return microseconds since the epoch."""
    return time.time_ns() // 1000


class History:
    """What ``torch.cuda.memory._record_memory_history`` turns on and off.

    Args:
        gather: returns the frames of the caller; without it frames stay empty.
        clock: returns microseconds.

    Source: c10/cuda/CUDACachingAllocator.cpp and torch/csrc/cuda/memory_snapshot.cpp, torch 2.13.
    """

    def __init__(self, gather: Callable[[], Frames] | None = None, clock: Callable[[], int] | None = None) -> None:
        self.is_recording = False
        self.metadata = ""
        """Text that is attached to entries from now on (``torch.cuda.memory._set_memory_metadata``)."""
        self._gather = gather
        self._clock = clock or read_wall_clock
        self._level: Level | None = None
        self._skipped: frozenset[str] = frozenset()
        self._entries: deque[Entry] = deque(maxlen=1)

    @property
    def entries(self) -> list[Entry]:
        """The entries still held, oldest first."""
        return [dict(entry) for entry in self._entries]

    def start(
        self,
        enabled: Literal["state", "all"] = "all",
        *,
        context: Level | None = "all",
        max_entries: int,
        clear_history: bool = False,
        skip_actions: Iterable[str] = (),
    ) -> None:
        """Record from now on.

        Args:
            enabled: ``state`` keeps frames of blocks that live, and one entry; ``all`` keeps the history.
            context: for which events frames are gathered: none, blocks that live (``state``), allocations
                in the history too (``alloc``), frees too (``all``).
            max_entries: length of the ring.
            clear_history: forget what was recorded.
            skip_actions: actions that get no entry.

        Raises:
            RuntimeError: ``enabled`` or ``context`` is none of the above.
        """
        if enabled not in ("state", "all"):
            raise RuntimeError("expected state to be 'state', 'all', or None")
        if context not in _RANK:
            raise RuntimeError("expected context to be 'state', 'alloc', 'all', or None")
        kept = [] if clear_history else self._entries
        self._entries = deque(kept, maxlen=max_entries if enabled == "all" else 1)
        self._level = context
        self._skipped = frozenset(skip_actions)
        self.is_recording = True

    def stop(self) -> None:
        """Record nothing from now on, and forget all."""
        self.is_recording = False
        self._level = None
        self._entries.clear()

    def gather(self, level: Level) -> Frames | None:
        """Return the caller's frames, if those of events of this level are wanted."""
        if self._level is None or self._gather is None or _RANK[self._level] < _RANK[level]:
            return None
        return self._gather()

    def note(
        self, action: str, address: int, size: int, stream: int, frames: Frames | None, pool: PoolId = DEFAULT_POOL
    ) -> None:
        """Add an entry, if history is on.

        Args:
            action: PyTorch's name of what happened.
            address: of the first byte; for ``oom`` the bytes that are free on the device.
            size: bytes; for ``alloc`` and ``free_…`` those asked for.
            stream: of the block.
            frames: those of the caller, or of the block's allocation.
            pool: id of the block's pool.
        """
        if not self.is_recording or action in self._skipped:
            return
        entry: Entry = {
            "action": action,
            "device_free" if action == "oom" else "addr": address,
            "size": size,
            "stream": stream,
            "time_us": self._clock(),
            "compile_context": "N/A",
            "user_metadata": self.metadata,
            "pool_id": pool,
        }
        if frames is not None and _RANK[self._level] >= _RANK["alloc"]:
            entry["frames"] = frames
        self._entries.append(entry)
