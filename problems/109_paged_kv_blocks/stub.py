"""Problem 109: paged KV blocks. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor


class OutOfBlocks(RuntimeError):
    """The free blocks, or the rows of the table, do not suffice; nothing has changed."""


class BlockManager:
    """Shares out the blocks of a KV pool among sequences. Which sequence holds what, the host knows by itself.

    Args:
        pool: (blocks, block_size, …), on the device. Block b is ``pool[b]``. The caller writes keys and values into it;
            the manager only copies from block to block.
        rows: most sequences at a time.
        width: most blocks of a sequence.

    Attributes:
        tables: (rows, width), int32, on the device: the blocks of each row's sequence in order, and -1 everywhere else.
            The same tensor object for the manager's whole life, up to date for work that is queued after a call.
    """

    def __init__(self, pool: Tensor, rows: int, width: int) -> None:
        # TODO: take all device memory here. What must be known of a block, and what of a sequence?
        raise NotImplementedError

    @property
    def free_blocks(self) -> int:
        """How many blocks no sequence has."""
        # TODO
        raise NotImplementedError

    def row(self, seq: int) -> int:
        """Return the row of ``tables`` that belongs to a sequence, the same for all its life.

        Raises:
            ValueError: there is no such sequence, or no longer.
        """
        # TODO
        raise NotImplementedError

    def blocks(self, seq: int) -> list[int]:
        """Return the blocks of a sequence, in order.

        Raises:
            ValueError: there is no such sequence, or no longer.
        """
        # TODO
        raise NotImplementedError

    def add(self, tokens: Sequence[int]) -> tuple[int, int]:
        """Admit a sequence with its prompt.

        Args:
            tokens: the prompt, 0 tokens or more.

        Returns:
            The number of the sequence, and how many tokens at its beginning lie in the pool already. Numbers count up
            from 0 and are never used again.

        Raises:
            OutOfBlocks: no row, or too few blocks.
            ValueError: the prompt takes more than ``width`` blocks.

        Synchronises: never.
        """
        # TODO: which full blocks are known? How many more are wanted, and is there room, before anything changes?
        # TODO: the table's row, without a wait.
        raise NotImplementedError

    def append(self, seq: int, token: int) -> tuple[int, int]:
        """Add a token to a sequence.

        Returns:
            The block and the offset in it to which the caller writes the token's keys and values.

        Raises:
            OutOfBlocks: a block is wanted, and none is free.
            ValueError: there is no such sequence, or it fills its ``width`` blocks.

        Synchronises: never.
        """
        # TODO: a new block, or the last one? May somebody else be reading that one?
        # TODO: a block that becomes full can be found by its contents from now on.
        raise NotImplementedError

    def fork(self, seq: int) -> int:
        """Admit a sequence that shares all that another one holds; return its number.

        Raises:
            OutOfBlocks: no row.
            ValueError: there is no such sequence.

        Synchronises: never.
        """
        # TODO
        raise NotImplementedError

    def free(self, seq: int) -> None:
        """Let a sequence go.

        Raises:
            ValueError: there is no such sequence, or no longer.

        Synchronises: never.
        """
        # TODO: which of its blocks become free, in which order, and what is still known of them?
        raise NotImplementedError

    def preempt(self) -> tuple[int, list[int]]:
        """Let the sequence go that was admitted last; return its number and all its tokens.

        Raises:
            ValueError: there is no sequence.

        Synchronises: never.
        """
        # TODO
        raise NotImplementedError
