"""The slots are pageable, and non_blocking=True does nothing: each push holds the host.

Caught by: test_5_waits.py::test_a_push_never_waits[contiguous]
Caught by: test_5_waits.py::test_a_push_never_waits[transposed]
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


class MailboxFull(RuntimeError):
    """Every slot belongs to a ticket that has not been read."""


class Ticket:
    """One result on its way to the host.

    Args:
        pinned: the part of a slot to which the copy goes.
        landed: recorded behind that copy.
    """

    def __init__(self, pinned: Tensor, landed: torch.cuda.Event) -> None:
        self._pinned: Tensor | None = pinned
        self._landed = landed
        self._result: Tensor | None = None

    @property
    def is_read(self) -> bool:
        """Whether the result has left the slot."""
        return self._result is not None

    def ready(self) -> bool:
        """Return whether :meth:`read` would return without waiting. *Synchronises: never.*"""
        return self.is_read or self._landed.query()

    def read(self) -> Tensor:
        """Return the result, the caller's to keep. *Synchronises: once, at the first call, for this result only.*"""
        if self._result is None:
            self._landed.synchronize()
            self._result = self._pinned.clone()
            self._pinned = None
        return self._result


@dataclass(slots=True)
class Slot:
    """A piece of pinned memory that is lent to one ticket at a time."""

    memory: Tensor
    landed: torch.cuda.Event
    """Recorded behind the last copy to ``memory``; one that never was is waited for by nobody."""
    holder: Callable[[], Ticket | None]
    """A weak reference: a ticket that its owner drops must not live on here."""

    def is_free(self) -> bool:
        """Return whether no unread ticket holds it."""
        ticket = self.holder()
        return ticket is None or ticket.is_read


class ResultMailbox:
    """A fixed number of pinned slots, through which tensors of the device come to the host.

    Args:
        slots: how many results may be unread at once, 1 or more.
        slot_bytes: the size of a slot, in bytes.

    Raises:
        ValueError: ``slots`` is less than 1.
    """

    def __init__(self, slots: int, slot_bytes: int) -> None:
        if slots < 1:
            raise ValueError(f"slots must be at least 1, not {slots}")
        self._slots = [
            Slot(torch.empty(slot_bytes, dtype=torch.uint8), torch.cuda.Event(), lambda: None) for _ in range(slots)
        ]

    def push(self, tensor: Tensor) -> Ticket:
        """Queue the copy of a tensor to the host on the current stream. *Synchronises: never.*

        Args:
            tensor: on the device, of any shape, dtype and strides.

        Raises:
            MailboxFull: each slot is held by a ticket.
            ValueError: the tensor is larger than a slot.
        """
        slot = self._find_free()
        size_bytes = tensor.numel() * tensor.element_size()
        if size_bytes > slot.memory.numel():
            raise ValueError(f"{size_bytes} bytes do not fit into a slot of {slot.memory.numel()}")
        stream = torch.cuda.current_stream()
        # A ticket that was dropped unread leaves its copy behind, maybe still to run, maybe on another stream.
        stream.wait_event(slot.landed)
        pinned = slot.memory[:size_bytes].view(tensor.dtype).view(tensor.shape)
        pinned.copy_(tensor.detach(), non_blocking=True)
        slot.landed = stream.record_event()
        ticket = Ticket(pinned, slot.landed)
        slot.holder = weakref.ref(ticket)
        return ticket

    def _find_free(self) -> Slot:
        for slot in self._slots:
            if slot.is_free():
                return slot
        raise MailboxFull(f"all {len(self._slots)} slots hold results that have not been read")
