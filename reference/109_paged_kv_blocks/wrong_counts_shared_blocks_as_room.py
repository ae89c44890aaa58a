"""Whether there is room is asked before the free blocks that are shared have left the queue.

Caught by: test_4_exhaustion.py::test_shared_blocks_are_not_room
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

NOBODY = -1
"""What stands in a block table where there is no block."""


class OutOfBlocks(RuntimeError):
    """The free blocks, or the rows of the table, do not suffice; nothing has changed."""


@dataclass
class Request:
    """A sequence that lives: what the host knows of it."""

    row: int
    tokens: list[int]
    blocks: list[int]
    keys: list[bytes]
    """Of its full blocks, in order."""


class BlockManager:
    """Shares out the blocks of a KV pool among sequences.

    Args:
        pool: (blocks, block_size, …), on the device.
        rows: most sequences at a time.
        width: most blocks of a sequence.

    Attributes:
        tables: (rows, width), int32, on the device: the blocks of each row's sequence in order, -1 behind them.
    """

    def __init__(self, pool: Tensor, rows: int, width: int) -> None:
        self.tables = torch.full((rows, width), NOBODY, dtype=torch.int32, device=pool.device)
        self._pool = pool
        self._block_size = pool.shape[1]
        self._users = [0] * pool.shape[0]
        # A dict is a queue from whose midst a block can be taken, when its contents are wanted again.
        self._free: dict[int, None] = dict.fromkeys(range(pool.shape[0]))
        self._free_rows = list(range(rows))
        self._prefixes: dict[bytes, int] = {}
        self._keys: dict[int, bytes] = {}  # the same the other way round
        self._requests: dict[int, Request] = {}
        self._admitted = 0

    @property
    def free_blocks(self) -> int:
        """How many blocks no sequence has."""
        return len(self._free)

    def row(self, seq: int) -> int:
        """Return the row of ``tables`` that belongs to a sequence."""
        return self._find(seq).row

    def blocks(self, seq: int) -> list[int]:
        """Return the blocks of a sequence, in order."""
        return list(self._find(seq).blocks)

    def add(self, tokens: Sequence[int]) -> tuple[int, int]:
        """Admit a sequence; return its number, and how many of its tokens lie in the pool already."""
        tokens = list(tokens)
        total = -(-len(tokens) // self._block_size)
        if total > self.tables.shape[1]:
            raise ValueError(f"{len(tokens)} tokens take {total} blocks; a row of the table has {self.tables.shape[1]}")
        keys = self._chain([], tokens)
        shared = self._match(keys)
        room = len(self._free)
        if total - len(shared) > room:
            raise OutOfBlocks(f"{total - len(shared)} blocks are wanted, {room} are free")
        row = self._take_row()
        for block in shared:
            self._free.pop(block, None)
            self._users[block] += 1
        blocks = shared + [self._take() for _ in range(total - len(shared))]
        for block, key in zip(blocks, keys, strict=False):
            self._register(block, key)
        if blocks:
            # A pinned tensor of its own for each upload: PyTorch lends its memory again once the copy has run.
            self.tables[row, :total].copy_(torch.tensor(blocks, dtype=torch.int32).pin_memory(), non_blocking=True)
        return self._admit(Request(row, tokens, blocks, keys)), len(shared) * self._block_size

    def append(self, seq: int, token: int) -> tuple[int, int]:
        """Add a token to a sequence; return the block and the offset to which its keys and values belong."""
        request = self._find(seq)
        index, offset = divmod(len(request.tokens), self._block_size)
        if index == self.tables.shape[1]:
            raise ValueError(f"sequence {seq} fills its {index} blocks")
        if offset == 0:
            block = self._take()
            request.blocks.append(block)
            self.tables[request.row, index].fill_(block)
        elif self._users[request.blocks[index]] > 1:
            self._own(request, index, offset)
        request.tokens.append(token)
        block = request.blocks[index]
        if offset + 1 == self._block_size:
            request.keys = self._chain(request.keys, request.tokens)
            self._register(block, request.keys[-1])
        return block, offset

    def fork(self, seq: int) -> int:
        """Admit a sequence that shares all that this one holds; return its number."""
        parent = self._find(seq)
        row = self._take_row()
        for block in parent.blocks:
            self._users[block] += 1
        self.tables[row].copy_(self.tables[parent.row])
        return self._admit(Request(row, list(parent.tokens), list(parent.blocks), list(parent.keys)))

    def free(self, seq: int) -> None:
        """Let a sequence go; blocks that nobody else uses become free."""
        request = self._find(seq)
        del self._requests[seq]
        self.tables[request.row].fill_(NOBODY)
        self._free_rows.append(request.row)
        # The last block first: the beginning of a prompt is what the next one most likely shares.
        for block in reversed(request.blocks):
            self._users[block] -= 1
            if self._users[block] == 0:
                self._free[block] = None

    def preempt(self) -> tuple[int, list[int]]:
        """Let the sequence go that was admitted last; return its number and its tokens."""
        if not self._requests:
            raise ValueError("there is no sequence to preempt")
        seq = max(self._requests)
        tokens = self._requests[seq].tokens
        self.free(seq)
        return seq, tokens

    def _find(self, seq: int) -> Request:
        if seq not in self._requests:
            raise ValueError(f"there is no sequence {seq}, or no longer")
        return self._requests[seq]

    def _admit(self, request: Request) -> int:
        seq = self._admitted
        self._requests[seq] = request
        self._admitted += 1
        return seq

    def _take_row(self) -> int:
        if not self._free_rows:
            raise OutOfBlocks(f"all {self.tables.shape[0]} rows of the table are taken")
        return self._free_rows.pop()

    def _take(self) -> int:
        """Return the block that has been free longest, for one user; what it held is no prefix any more."""
        if not self._free:
            raise OutOfBlocks("no block is free")
        block = next(iter(self._free))
        del self._free[block]
        self._users[block] = 1
        if block in self._keys:
            del self._prefixes[self._keys.pop(block)]
        return block

    def _own(self, request: Request, index: int, offset: int) -> None:
        """Give a sequence a copy of a block that it shares, before it writes there."""
        shared = request.blocks[index]
        copy = self._take()
        self._pool[copy, :offset].copy_(self._pool[shared, :offset])
        self._users[shared] -= 1
        request.blocks[index] = copy
        self.tables[request.row, index].fill_(copy)

    def _chain(self, keys: list[bytes], tokens: list[int]) -> list[bytes]:
        """Return the keys of the full blocks, of which the first are known; each stands for all tokens before it."""
        keys = list(keys)
        for end in range((len(keys) + 1) * self._block_size, len(tokens) + 1, self._block_size):
            parent = keys[-1] if keys else b""
            keys.append(hashlib.sha256(parent + array("q", tokens[end - self._block_size : end]).tobytes()).digest())
        return keys

    def _match(self, keys: list[bytes]) -> list[int]:
        """Return the blocks that hold the longest known beginning."""
        blocks = []
        for key in keys:
            if key not in self._prefixes:
                break
            blocks.append(self._prefixes[key])
        return blocks

    def _register(self, block: int, key: bytes) -> None:
        """Let a full block be found by its contents, unless another one is found already."""
        if key not in self._prefixes:
            self._prefixes[key] = block
            self._keys[block] = key
