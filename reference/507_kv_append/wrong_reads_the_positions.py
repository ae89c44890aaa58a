"""Each row's position is fetched with item(), and each row is written on its own.

Caught by: test_4_device.py::test_the_host_never_waits
Caught by: test_4_device.py::test_the_launches_are_few[append]
"""

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
        # Zeros, not empty: attention gives what lies behind a row's end the weight 0, and 0 × NaN is NaN.
        self.keys = torch.zeros(rows, heads, capacity, head_dim, dtype=dtype, device=device)
        self.values = torch.zeros_like(self.keys)
        self.lengths = torch.zeros(rows, dtype=torch.int64, device=device)
        self._rows = torch.arange(rows, device=device)
        # Whoever queues the writes can count them: the host never has to ask the device how long a row is.
        self._held = [0] * rows

    def length(self, row: int) -> int:
        """Return how many tokens a row holds. *Synchronises: never.*"""
        self._check_row(row)
        return self._held[row]

    @torch.no_grad()
    def append(self, keys: Tensor, values: Tensor) -> None:
        """Add one token to each row, each behind what that row holds. *Synchronises: never.*"""
        rows, heads, _, head_dim = self.keys.shape
        for tensor in (keys, values):
            self._check_tensor(tensor, (rows, heads, head_dim))
        for row in range(rows):
            self._check_room(row, 1)
        for row in range(rows):
            position = self.lengths[row].item()
            self.keys[row, :, position] = keys[row]
            self.values[row, :, position] = values[row]
        self.lengths.add_(1)
        self._held = [held + 1 for held in self._held]

    @torch.no_grad()
    def prefill(self, row: int, keys: Tensor, values: Tensor) -> None:
        """Add n tokens, 0 or more, to one row, behind what it holds. *Synchronises: never.*"""
        self._check_row(row)
        _, heads, _, head_dim = self.keys.shape
        count = keys.shape[1] if keys.dim() == 3 else 0
        for tensor in (keys, values):
            self._check_tensor(tensor, (heads, count, head_dim))
        self._check_room(row, count)
        start = self._held[row]
        self.keys[row, :, start : start + count].copy_(keys)
        self.values[row, :, start : start + count].copy_(values)
        self.lengths[row].add_(count)
        self._held[row] += count

    def row(self, row: int) -> tuple[Tensor, Tensor]:
        """Return keys and values of one row, (heads, its length, head_dim): views. *Synchronises: never.*"""
        self._check_row(row)
        held = self._held[row]
        return self.keys[row, :, :held], self.values[row, :, :held]

    def batch(self) -> tuple[Tensor, Tensor]:
        """Return keys and values of all rows, (rows, heads, longest, head_dim): views. *Synchronises: never.*"""
        longest = max(self._held, default=0)
        return self.keys[:, :, :longest], self.values[:, :, :longest]

    def clear(self) -> None:
        """Make all rows empty; the contents are left as they are. *Synchronises: never.*"""
        self.lengths.zero_()
        self._held = [0] * len(self._held)

    def _check_row(self, row: int) -> None:
        # Python would take row -1 for the last one.
        if not 0 <= row < len(self._held):
            raise IndexError(f"there is no row {row}; the cache has {len(self._held)}")

    def _check_room(self, row: int, count: int) -> None:
        capacity = self.keys.shape[2]
        if self._held[row] + count > capacity:
            raise CacheFull(f"row {row} holds {self._held[row]} of {capacity} tokens: no room for {count} more")

    def _check_tensor(self, tensor: Tensor, shape: tuple[int, ...]) -> None:
        # Neither copy_() nor an assignment would complain: they broadcast, and fetch what lies elsewhere.
        if tuple(tensor.shape) != shape:
            raise ValueError(f"keys and values must have the shape {shape}, not {tuple(tensor.shape)}")
        if tensor.device != self.keys.device:
            raise ValueError(f"keys and values must lie on {self.keys.device}, not on {tensor.device}")
