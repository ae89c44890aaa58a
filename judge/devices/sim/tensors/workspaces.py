"""The memory that cuBLAS works in: one block for each handle and stream, kept from the first product on. (torch)"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from judge.devices.sim.storages import allocate

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine
    from judge.devices.sim.sites import Site
    from judge.devices.sim.streams import Stream

VARIABLE = "CUBLAS_WORKSPACE_CONFIG"
"""Holds pieces ``:SIZE:COUNT``, sizes in KiB."""
_PIECE = re.compile(r":([0-9]+):([0-9]+)")
_WIDE = (9, 10, 12)
"""Major compute capabilities whose workspace is larger."""
_FIRST_HANDLE = 0x6000_0000_0000
_BACKWARD = -1
"""The handle of the thread that runs backward passes."""


class _Lease:
    """A thread's handle, which the next thread gets when this one has ended."""

    def __init__(self, spare: list[int], handle: int) -> None:
        self._spare = spare
        self.handle = handle

    def __del__(self) -> None:
        self._spare.append(self.handle)


class Workspaces:
    """Blocks of one installation.

    PyTorch takes them from the caching allocator, on the stream that the product runs on, after the product's result.
    A handle belongs to a thread; backward passes have a thread of their own. cuBLASLt shares them.

    Args:
        machine: whose memory.
        environment: holds :data:`VARIABLE`; by default that of the process.

    Source: ``parseChosenWorkspaceSize``, ``setWorkspaceForHandle`` and ``getCUDABlasLtWorkspace``,
    aten/src/ATen/cuda/CublasHandlePool.cpp, torch 2.13.
    """

    def __init__(self, machine: Machine, environment: Mapping[str, str] | None = None) -> None:
        self._machine = machine
        self._environment = os.environ if environment is None else environment
        self._size_bytes: int | None = None
        self._blocks: dict[tuple[int, int], int] = {}
        self._here = threading.local()
        self._spare: list[int] = []
        self._count = 0

    def provide(self, stream: Stream, site: Site | None = None, *, is_backward: bool) -> None:
        """Take the block for the present thread and a stream, unless it is there.

        Args:
            stream: the one that the product runs on.
            site: the user's line; found if left out.
            is_backward: whether the product is a step of a backward pass.

        Raises:
            torch.OutOfMemoryError: the device has no memory for it.
        """
        key = _BACKWARD if is_backward else self._find_handle(), stream.handle
        if key not in self._blocks:
            self._blocks[key] = allocate(self._machine, self.find_size(), stream, site)

    def clear(self) -> None:
        """Give all blocks back, as ``torch._C._cuda_clearCublasWorkspaces()`` does."""
        blocks = [address for address in self._blocks.values() if address]
        self._blocks.clear()
        for address in blocks:
            self._machine.memory.free(address)

    def find_handle(self, stream: Stream) -> int:
        """Return what stands for the present thread's handle, its block taken; never 0."""
        self.provide(stream, is_backward=False)
        return _FIRST_HANDLE + self._find_handle()

    def _find_handle(self) -> int:
        lease: _Lease | None = getattr(self._here, "lease", None)
        if lease is None:
            if not self._spare:
                self._spare.append(self._count)
                self._count += 1
            lease = self._here.lease = _Lease(self._spare, self._spare.pop())
        return lease.handle

    def find_size(self) -> int:
        """Return the bytes of each block."""
        if self._size_bytes is None:
            is_wide = self._machine.profile.device.compute_capability[0] in _WIDE
            self._size_bytes = read_size(self._environment.get(VARIABLE), 4096 * 8 if is_wide else 4096 * 2 + 16 * 8)
        return self._size_bytes


def read_size(text: str | None, default_kib: int) -> int:
    """Return the bytes that a configuration asks for; with PyTorch's warning, the default for one that is none."""
    if text is None:
        return default_kib * 1024
    pieces = _PIECE.findall(text)
    if not pieces:
        warnings.warn(
            f"Could not parse {VARIABLE}, using default workspace size of {default_kib * 1024} bytes.", stacklevel=2
        )
        return default_kib * 1024
    return sum(int(size) * 1024 * int(count) for size, count in pieces)
