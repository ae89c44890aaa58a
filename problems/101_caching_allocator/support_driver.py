"""A driver that obeys the test and notes what it was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, groupby
from typing import Any

MIB = 1 << 20

Call = list[Any]
"""Name of the method and its argument."""


class ObedientDriver:
    """Hands out the addresses that the test names, refuses when the test wants it to, and notes every call.

    Args:
        expect: the judge's fixture.
        capacity: bytes of the device.
        bases: addresses of the segments in order of creation; after them, and without them, each segment
            begins where the highest one ended.
        faults: by number of the call of ``malloc``, counted from 0: what it raises instead.
    """

    def __init__(
        self,
        expect: Any,
        capacity: int = 1 << 50,
        bases: Iterable[int] = (),
        faults: dict[int, BaseException] | None = None,
    ) -> None:
        self._expect = expect
        self.capacity = capacity
        self._bases = iter(bases)
        self._end = 0
        self._faults = faults or {}
        self._asked = count()
        self.sizes: dict[int, int] = {}
        self._calls: list[Call] = []

    def malloc(self, size_bytes: int) -> int:
        """Return the next base."""
        __tracebackhide__ = True
        self._expect.true(
            type(size_bytes) is int and size_bytes > 0 and size_bytes % (2 * MIB) == 0,
            (
                "driver.malloc() was asked for a size that no segment has",
                "向 driver.malloc() 要的大小不是任何段应有的大小",
            ),
            (
                "A segment has 2 MiB, 20 MiB, or the rounded size, rounded up to a multiple of 2 MiB (rule 5).",
                "段的大小是 2 MiB、20 MiB，或取整后的大小再向上取整到 2 MiB 的整数倍（规则 5）。",
            ),
            expected=f"n * {2 * MIB}, n >= 1",
            actual=size_bytes,
        )
        self._calls.append(["malloc", size_bytes])
        fault = self._faults.get(next(self._asked))
        if fault is not None:
            raise fault
        if sum(self.sizes.values()) + size_bytes > self.capacity:
            raise MemoryError(f"{size_bytes} bytes wanted, {self.capacity - sum(self.sizes.values())} left")
        base = next(self._bases, self._end)
        self._end = max(self._end, base + size_bytes)
        self.sizes[base] = size_bytes
        return base

    def free(self, address: int) -> None:
        """Take a segment back."""
        __tracebackhide__ = True
        self._expect.true(
            type(address) is int and address in self.sizes,
            (
                "driver.free() was given an address at which no segment begins",
                "传给 driver.free() 的不是任何段的起始地址",
            ),
            ("A segment goes back whole, once, by its base.", "段要整段归还，只还一次，凭起始地址。"),
            expected=" | ".join(map(str, sorted(self.sizes))) or "-",
            actual=address,
        )
        self._calls.append(["free", address])
        del self.sizes[address]

    @property
    def calls(self) -> list[Call]:
        """The calls that were not taken yet; calls of ``free`` in a row are sorted: their order is open."""
        groups = [(name, list(group)) for name, group in groupby(self._calls, key=lambda call: call[0])]
        return [call for name, group in groups for call in (sorted(group) if name == "free" else group)]

    def take_calls(self) -> list[Call]:
        """Return the calls since the last time."""
        if not self._calls:
            return []  # the usual case, and the tests measure what a call costs
        calls, self._calls = self.calls, []
        return calls
