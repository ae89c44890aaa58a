"""Problem 507: KV append. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

import torch
from torch import Tensor


class CacheFull(RuntimeError):
    """A row would grow beyond the capacity; nothing has been written."""


class KVCache:
    """The keys and values of a batch that decodes together, in memory that is taken once.

    Args:
        rows: sequences of the batch, 0 or more.
        heads: KV heads of a token.
        capacity: most tokens of a row.
        head_dim: numbers of a head.
        dtype: of the cache, a floating-point type.
        device: where the cache lies.

    Attributes:
        keys: (rows, heads, capacity, head_dim), of ``dtype``. The same tensor object for the cache's whole life.
        values: likewise.
        lengths: (rows,), int64, on the device: tokens in each row. The same object for the cache's whole life.
    """

    def __init__(
        self, rows: int, heads: int, capacity: int, head_dim: int, dtype: torch.dtype, device: str | torch.device
    ) -> None:
        # TODO: take all memory here. What may stand where nothing has been written yet?
        # TODO: the host must know each row's length without asking the device. Who can tell it?
        raise NotImplementedError

    def length(self, row: int) -> int:
        """Return how many tokens a row holds.

        Raises:
            IndexError: there is no such row.

        Synchronises: never.
        """
        # TODO
        raise NotImplementedError

    def append(self, keys: Tensor, values: Tensor) -> None:
        """Add one token to each row, each behind what that row holds.

        Args:
            keys: (rows, heads, head_dim), on the cache's device, of any floating-point type and strides.
            values: likewise.

        Raises:
            CacheFull: a row is full; the message names it as ``row 3``.
            ValueError: a shape or a device is another one.

        Synchronises: never.
        """
        # TODO: refuse before anything is written.
        # TODO: write into keys and values at each row's own position, then move the lengths on. In how many launches?
        raise NotImplementedError

    def prefill(self, row: int, keys: Tensor, values: Tensor) -> None:
        """Add n tokens, 0 or more, to one row, behind what it holds.

        Args:
            row: which one.
            keys: (heads, n, head_dim), on the cache's device, of any floating-point type and strides.
            values: likewise.

        Raises:
            CacheFull: they don't fit; the message names the row as ``row 3``.
            IndexError: there is no such row.
            ValueError: a shape or a device is another one.

        Synchronises: never.
        """
        # TODO: the host knows where these go, so basic indexing will do.
        raise NotImplementedError

    def row(self, row: int) -> tuple[Tensor, Tensor]:
        """Return keys and values of one row, (heads, its length, head_dim): views of the cache.

        Raises:
            IndexError: there is no such row.

        Synchronises: never.
        """
        # TODO
        raise NotImplementedError

    def batch(self) -> tuple[Tensor, Tensor]:
        """Return keys and values of all rows, (rows, heads, longest length, head_dim): views of the cache.

        Synchronises: never.
        """
        # TODO
        raise NotImplementedError

    def clear(self) -> None:
        """Make all rows empty. The cache's contents are left as they are.

        Synchronises: never.
        """
        # TODO
        raise NotImplementedError
