"""Lifetimes of blocks: each ends when the last tensor on it dies, at that very moment if that is safe."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Literal


class _Watch(weakref.ref[memoryview]):
    __slots__ = ("address",)
    address: int


class Lifetimes:
    """Calls back when a storage dies.

    A storage may die anywhere: where a name is rebound, but also in the middle of our own code, when the garbage
    collector runs there. Frees that come while the owner is busy, or from the collector, are kept until the owner
    settles them.

    Args:
        end: called with the address of memory that nobody owns any more; never while ``lock`` is busy.
    """

    def __init__(self, end: Callable[[int], None]) -> None:
        self._end = end
        self._watches: dict[int, _Watch] = {}
        self.late: deque[Callable[[], None]] = deque()
        """What had to wait; settled when the owner is next at rest."""
        self.lock = threading.RLock()
        self.depth = 0
        """Above 0 while the owner is busy."""
        self._is_collecting = False
        gc.callbacks.append(self._note_collection)

    def __len__(self) -> int:
        return len(self._watches)

    def __enter__(self) -> None:
        """Be busy: nothing ends until the block is left."""
        self.lock.acquire()
        if self.late and not self.depth:
            self.settle_held()
        self.depth += 1

    def __exit__(self, *exception: object) -> None:
        self.depth -= 1
        self.lock.release()

    def watch(self, piece: memoryview, address: int) -> None:
        """End the life of the memory at an address when the view of it that a storage owns dies."""
        watch = _Watch(piece, self._note_death)
        watch.address = address
        self._watches[address] = watch

    def end(self, address: int) -> None:
        """End the life of the memory at an address, now or when it is safe."""
        if self.depth or self._is_collecting:
            self.late.append(partial(self._end, address))
        else:
            with self:
                self._end(address)

    def do(self, action: Callable[[], None]) -> None:
        """Do something with the memory, now or when it is safe."""
        if self.depth or self._is_collecting:
            self.late.append(action)
        else:
            with self:
                action()

    def settle(self) -> None:
        """End the lives whose end had to wait."""
        if self.late and not self.depth:
            with self:
                pass

    def close(self) -> None:
        """Watch the garbage collector no more."""
        if self._note_collection in gc.callbacks:
            gc.callbacks.remove(self._note_collection)

    def settle_held(self) -> None:
        """Do the same with the lock held."""
        self.depth += 1
        try:
            while self.late:
                self.late.popleft()()
        finally:
            self.depth -= 1

    def _note_death(self, watch: weakref.ref[memoryview]) -> None:
        address = watch.address  # type: ignore[attr-defined]  # it is a _Watch
        del self._watches[address]
        if self.depth or self._is_collecting:
            self.late.append(partial(self._end, address))
            return
        with self.lock:  # what `end` does, without its calls: most blocks end here
            self.depth += 1
            try:
                self._end(address)
            finally:
                self.depth -= 1

    def _note_collection(self, phase: Literal["start", "stop"], _: dict[str, int]) -> None:
        self._is_collecting = phase == "start"
