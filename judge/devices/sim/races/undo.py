"""Before-images: what bytes held before operations changed them, as far back as anything is in flight."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from judge.devices.sim.races.geometry import Access, count_runs, runs
from judge.devices.sim.races.vectors import Vector, clock_of

BUDGET_BYTES = 256 << 20
"""Most bytes of all images together; the oldest go first."""
IMAGE_BYTES = 16 << 20
"""Most bytes of one image; larger writes are not kept."""
MAX_RUNS = 65_536
"""Most ranges of a strided write that are told apart; one with more is not kept."""


class Image(NamedTuple):
    """What a write replaced."""

    actor: int
    clock: int
    access: Access
    data: bytes
    """Of the whole range, between the elements too."""


class Undo:
    """The images of all writes that the host does not know to be over.

    Args:
        view: gives the bytes at an address.
        host: the host's vector clock, the living list.
    """

    def __init__(self, view: Callable[[int, int], memoryview], host: Vector) -> None:
        self._view = view
        self._host = host
        self._images: deque[Image] = deque()
        self._size_bytes = 0
        self._lost: dict[int, int] = {}
        """Clock of each actor's last write that has no image."""

    def take(self, actor: int, clock: int, writes: Sequence[Access]) -> None:
        """Keep what the bytes hold that an operation is about to write.

        Args:
            actor: who will run it.
            clock: its clock on that actor.
            writes: what it will write.
        """
        for access in writes:
            size = access.high - access.low
            if size <= 0:
                continue
            if size > IMAGE_BYTES or (access.strides is not None and count_runs(access) > MAX_RUNS):
                self._lost[actor] = clock
                continue
            self._images.append(Image(actor, clock, access, self._view(access.low, size).tobytes()))
            self._size_bytes += size
        self._trim()

    def _trim(self) -> None:
        images = self._images
        while images:
            oldest = images[0]
            is_over = oldest.clock <= clock_of(self._host, oldest.actor)
            if not is_over and self._size_bytes <= BUDGET_BYTES:
                return
            images.popleft()
            self._size_bytes -= len(oldest.data)
            if not is_over:
                self._lost[oldest.actor] = max(self._lost.get(oldest.actor, 0), oldest.clock)

    def has_all(self, vector: Vector) -> bool:
        """Tell whether every write that a step with this vector is not ordered after has its image."""
        lost = self._lost.items()
        return all(clock <= max(clock_of(vector, actor), clock_of(self._host, actor)) for actor, clock in lost)

    def has(self, actor: int, clock: int) -> bool:
        """Tell whether there are images of an operation."""
        return any(image.clock == clock and image.actor == actor for image in self._images)

    def restore(self, low: int, high: int, is_undone: Callable[[Image], bool]) -> bytearray:
        """Return what a range would hold had some writes not happened, the others having run in their order.

        Args:
            low: address of the first byte.
            high: address after the last one.
            is_undone: chooses the writes.
        """
        data = bytearray(self._view(low, high - low))
        final = bytearray(high - low)
        """1 where a write that did happen gave the byte its value."""
        for image in reversed(self._images):
            access = image.access
            if access.low >= high or low >= access.high:
                continue
            is_gone = is_undone(image)
            for start, end in runs(access):
                first, last = max(start, low), min(end, high)
                if first >= last:
                    continue
                if is_gone:
                    old = image.data[first - access.low : last - access.low]
                    _fill(data, first - low, old, final)
                else:
                    final[first - low : last - low] = b"\x01" * (last - first)
        return data


def _fill(data: bytearray, start: int, old: bytes, final: bytearray) -> None:
    """Put old bytes in place, but where the value is final."""
    end = start + len(old)
    if 1 not in final[start:end]:
        data[start:end] = old
        return
    for at, byte in enumerate(old, start):
        if not final[at]:
            data[at] = byte
