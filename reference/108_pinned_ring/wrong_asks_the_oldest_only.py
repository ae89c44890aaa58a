"""A queue: the buffer that was released first is waited for, though a newer one is free.

Caught by: test_3_waits.py::test_a_free_buffer_is_lent_without_a_wait
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import torch
from torch import Tensor


class RingExhausted(RuntimeError):
    """Every buffer is held: acquired, and not released."""


@dataclass(eq=False)
class Buffer:
    """A piece of pinned memory that is lent to one holder at a time."""

    memory: Tensor
    """``[size_bytes]``, uint8, pinned. Its holder may write to it."""
    copies: list[torch.cuda.Event] = field(default_factory=list)
    """Each recorded behind a copy that may not be over."""

    def is_idle(self) -> bool:
        """Return whether no copy reads it any more. *Synchronises: never.*"""
        return all(copy.query() for copy in self.copies)


class PinnedRing:
    """A fixed number of pinned buffers, through which bytes of the host go to the device.

    Args:
        count: how many buffers, 1 or more.
        size_bytes: the size of each, 1 or more.

    Raises:
        ValueError: ``count`` or ``size_bytes`` is less than 1.
    """

    def __init__(self, count: int, size_bytes: int) -> None:
        if count < 1 or size_bytes < 1:
            raise ValueError(f"a ring needs a buffer of a byte at least, not {count} of {size_bytes}")
        self._released = deque(
            Buffer(torch.empty(size_bytes, dtype=torch.uint8, pin_memory=True)) for _ in range(count)
        )
        """Those that nobody holds, in the order of their release; copies may still read them."""
        self._held: set[Buffer] = set()

    def acquire(self) -> Buffer:
        """Return a buffer that may be written at once. *Synchronises: only if none is free, for the oldest.*

        Raises:
            RingExhausted: every buffer is held.
        """
        if not self._released:
            raise RingExhausted(f"all {len(self._held)} buffers are held")
        buffer = self._released[0]
        for copy in buffer.copies:
            if not copy.query():
                copy.synchronize()
        buffer.copies.clear()
        self._released.remove(buffer)
        self._held.add(buffer)
        return buffer

    def copy(self, buffer: Buffer, target: Tensor, offset_bytes: int = 0) -> None:
        """Queue the copy of a part of a buffer to the device, on the current stream. *Synchronises: never.*

        Args:
            buffer: held.
            target: on the device, contiguous.
            offset_bytes: where its bytes begin.

        Raises:
            ValueError: the bytes don't lie in the buffer, the target is not contiguous, or the buffer is not held.
        """
        self._check_held(buffer)
        end_bytes = offset_bytes + target.numel() * target.element_size()
        if offset_bytes < 0 or end_bytes > buffer.memory.numel():
            raise ValueError(f"bytes {offset_bytes} to {end_bytes} don't lie in a buffer of {buffer.memory.numel()}")
        if not target.is_contiguous():
            raise ValueError("the target is not contiguous")
        # As bytes: an offset that is no multiple of the element's size would need a temporary, which is pageable.
        target.view(-1).view(torch.uint8).copy_(buffer.memory[offset_bytes:end_bytes], non_blocking=True)
        # Now, not in release(): by then the stream may hold other work, and would be waited for with it.
        buffer.copies.append(torch.cuda.current_stream().record_event())

    def release(self, buffer: Buffer) -> None:
        """Give a buffer back: it is free once its copies are over. *Synchronises: never.*

        Raises:
            ValueError: the buffer is not held, or not of this ring.
        """
        self._check_held(buffer)
        self._held.remove(buffer)
        self._released.append(buffer)

    def _check_held(self, buffer: Buffer) -> None:
        if buffer not in self._held:
            raise ValueError("the buffer is not held, or not of this ring")
