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
        self._late: deque[Callable[[], None]] = deque()
        self._lock = threading.RLock()
        self._depth = 0
        self._is_collecting = False
        gc.callbacks.append(self._note_collection)

    def __len__(self) -> int:
        return len(self._watches)

    def __enter__(self) -> None:
        """Be busy: nothing ends until the block is left."""
        self._lock.acquire()
        if self._late and not self._depth:
            self._settle_held()
        self._depth += 1

    def __exit__(self, *exception: object) -> None:
        self._depth -= 1
        self._lock.release()

    def watch(self, piece: memoryview, address: int) -> None:
        """End the life of the memory at an address when the view of it that a storage owns dies."""
        watch = _Watch(piece, self._note_death)
        watch.address = address
        self._watches[address] = watch

    def end(self, address: int) -> None:
        """End the life of the memory at an address, now or when it is safe."""
        if self._depth or self._is_collecting:
            self._late.append(partial(self._end, address))
        else:
            with self:
                self._end(address)

    def do(self, action: Callable[[], None]) -> None:
        """Do something with the memory, now or when it is safe."""
        if self._depth or self._is_collecting:
            self._late.append(action)
        else:
            with self:
                action()

    def settle(self) -> None:
        """End the lives whose end had to wait."""
        if self._late and not self._depth:
            with self:
                pass

    def close(self) -> None:
        """Watch the garbage collector no more."""
        if self._note_collection in gc.callbacks:
            gc.callbacks.remove(self._note_collection)

    def _settle_held(self) -> None:
        self._depth += 1
        try:
            while self._late:
                self._late.popleft()()
        finally:
            self._depth -= 1

    def _note_death(self, watch: weakref.ref[memoryview]) -> None:
        address = watch.address  # type: ignore[attr-defined]  # it is a _Watch
        del self._watches[address]
        if self._depth or self._is_collecting:
            self._late.append(partial(self._end, address))
            return
        with self._lock:  # what `end` does, without its calls: most blocks end here
            self._depth += 1
            try:
                self._end(address)
            finally:
                self._depth -= 1

    def _note_collection(self, phase: Literal["start", "stop"], _: dict[str, int]) -> None:
        self._is_collecting = phase == "start"
