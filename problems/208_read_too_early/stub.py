"""Problem 208: read too early. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from torch import Tensor


class MailboxFull(RuntimeError):
    """Every slot belongs to a ticket that has not been read."""


class Ticket:
    """One result on its way to the host. Only :meth:`ResultMailbox.push` makes one."""

    # TODO: what must a ticket know, and hold, to be read later? Its __init__ takes what you like.

    def ready(self) -> bool:
        """Return whether :meth:`read` would return without waiting.

        Synchronises: never.
        """
        # TODO: ask about this result only, not about what was queued behind it.
        raise NotImplementedError

    def read(self) -> Tensor:
        """Return the result, a contiguous host tensor of the pushed one's shape and dtype. It is the caller's to keep.

        Each call returns the same tensor. The slot is free once the first call has returned.

        Synchronises: once, at the first call, for this result only.
        """
        # TODO: from which moment on may the host read the slot? From which may the mailbox lend it again?
        raise NotImplementedError


class ResultMailbox:
    """A fixed number of pinned slots, through which tensors of the device come to the host.

    Args:
        slots: how many results may be unread at once, 1 or more.
        slot_bytes: the size of a slot, in bytes: the largest tensor that can be pushed.

    Raises:
        ValueError: ``slots`` is less than 1.
    """

    def __init__(self, slots: int, slot_bytes: int) -> None:
        # TODO: take all pinned memory here, once.
        raise NotImplementedError

    def push(self, tensor: Tensor) -> Ticket:
        """Queue the copy of a tensor to the host, behind what the current stream holds, and return its ticket.

        Args:
            tensor: on the device, of any shape, dtype and strides. After the call it is the caller's again, who may
                overwrite it on the same stream, or drop it.

        Returns:
            The ticket that holds a slot until it has been read, or is dropped.

        Raises:
            MailboxFull: each slot is held by a ticket; nothing has been queued.
            ValueError: the tensor is larger than a slot; nothing has been queued.

        Synchronises: never.
        """
        # TODO: which slot is free? May a copy still be writing to it?
        # TODO: copy, and mark the moment from which the bytes are there. On which stream? Before or behind the copy?
        raise NotImplementedError
