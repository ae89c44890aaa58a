"""Who owns which bytes of a real GPU, as far as operators have shown it. (torch)"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from judge.devices.sim.races.shadow import Shadow
from judge.devices.sim.races.vectors import Vector
from judge.devices.sim.sites import Site
from judge.instruments.cuda.order import Order

MAX_RELEASED = 4096
"""Freed blocks with recorded streams that are remembered until somebody takes their bytes."""


class Lives:
    """Who owns which bytes, as far as operators have shown it.

    Args:
        order: of the streams.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._owners: dict[int, tuple[weakref.ref[Any], int, Site]] = {}
        self._recorded: dict[int, set[int]] = {}
        self._former: dict[int, Site] = {}
        self._dead: deque[tuple[int, weakref.ref[Any], tuple[Vector, ...]]] = deque()
        self._released: deque[tuple[int, int, tuple[Vector, ...]]] = deque(maxlen=MAX_RELEASED)

    def clear(self) -> None:
        """Forget everybody."""
        self._owners.clear()
        self._dead.clear()

    def see(self, tensor: torch.Tensor, shadow: Shadow, stream: int | None, site: Site) -> None:
        """Take note of a tensor's memory, if it has a new owner.

        Args:
            tensor: on the device.
            shadow: told of the owner.
            stream: handle of the stream that it was allocated on, if that was seen.
            site: the line that made it.
        """
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
        known = self._owners.get(address)
        if not size or (known is not None and known[0]() is storage):
            return
        for low, high, vectors in list(self._released):
            if low < address + size and address < high:
                # The allocator has seen the recorded streams get there before it gave these bytes away.
                for vector in vectors:
                    self._order.learn(vector)
                self._released.remove((low, high, vectors))
        self._owners[address] = (weakref.ref(storage, self._note_death(address)), size, site)
        shadow.begin(address, size, stream)

    def record(self, address: int, stream: int) -> None:
        """Take note that the allocator was told of another stream. Memory that was never seen has no end to note."""
        if address in self._owners:
            self._recorded.setdefault(address, set()).add(stream)

    def settle(self, shadow: Shadow) -> None:
        """Take note of those who have died. A death may come at any moment, so it is only written down then."""
        while self._dead:
            address, storage, vectors = self._dead.popleft()
            known = self._owners.get(address)
            if known is None or known[0] is not storage:
                continue
            _, size, site = self._owners.pop(address)
            self._former[address] = site
            if vectors:
                self._released.append((address, address + size, vectors))
            shadow.end(address, size)

    def find_former(self, address: int) -> Site | None:
        """Return the line that made the last tensor that died at an address."""
        return self._former.get(address)

    def _note_death(self, address: int) -> Callable[[weakref.ref[Any]], None]:
        def note(storage: weakref.ref[Any]) -> None:
            streams = self._recorded.pop(address, set())
            self._dead.append((address, storage, tuple(self._order.look_at(stream) for stream in streams)))

        return note
