"""Problem 108: a pinned ring. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


class RingExhausted(RuntimeError):
    """Every buffer is held: acquired, and not released."""


@dataclass(eq=False)
class Buffer:
    """A piece of pinned memory that is lent to one holder at a time. Only :class:`PinnedRing` makes one."""

    memory: Tensor
    """``[size_bytes]``, uint8, pinned. Its holder may write to it."""
    # TODO: what else must be known of a buffer? Give the fields that you add a default value, or set them yourself.


class PinnedRing:
    """A fixed number of pinned buffers, through which bytes of the host go to the device.

    Args:
        count: how many buffers, 1 or more.
        size_bytes: the size of each, 1 or more.

    Raises:
        ValueError: ``count`` or ``size_bytes`` is less than 1.
    """

    def __init__(self, count: int, size_bytes: int) -> None:
        # TODO: take all pinned memory here, once.
        raise NotImplementedError

    def acquire(self) -> Buffer:
        """Return a buffer that may be written at once; it is held until :meth:`release`.

        Raises:
            RingExhausted: every buffer is held.

        Synchronises: only if no buffer is free, and then only until the copies of the one that was released first are
            over.
        """
        # TODO: which buffers are free at this moment? How does one ask without waiting?
        # TODO: if none is: for which one does the host wait, and for what exactly?
        raise NotImplementedError

    def copy(self, buffer: Buffer, target: Tensor, offset_bytes: int = 0) -> None:
        """Queue the copy of a part of a buffer to the device, on the current stream.

        Args:
            buffer: held.
            target: on the device, contiguous, of any dtype and shape. It gets its size in bytes from the buffer.
            offset_bytes: where they begin; any whole number, whatever the target's dtype.

        Raises:
            ValueError: the bytes don't lie in the buffer; the target is not contiguous; the buffer is not held, or
                not of this ring. Nothing has been queued.

        Synchronises: never.
        """
        # TODO: what must be marked, where, and when, so that acquire() can know that this copy is over?
        raise NotImplementedError

    def release(self, buffer: Buffer) -> None:
        """Give a buffer back: it is free once its copies are over, at once if there were none.

        Raises:
            ValueError: the buffer is not held, or not of this ring.

        Synchronises: never.
        """
        # TODO: may the next holder write to it at once?
        raise NotImplementedError
