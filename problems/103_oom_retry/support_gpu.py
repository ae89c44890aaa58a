"""A GPU that notes what it is asked, and a picture of what lies in its segments."""

from __future__ import annotations

from itertools import groupby
from typing import Any

MIB = 1 << 20
CELLS = 40

Pair = tuple[str, str]
Call = list[Any]


class ScriptedGpu:
    """Hands out segments that follow one another, or lie where the test says.

    Args:
        total: bytes of the GPU.
        others: bytes that others use.
        fault: what ``malloc`` raises instead of anything else.
    """

    def __init__(self, total: int = 1 << 40, others: int = 0, fault: BaseException | None = None) -> None:
        self.total, self.others, self.fault = total, others, fault
        self.next_base: int | None = None
        self.sizes: dict[int, int] = {}
        self._end = 0
        self._calls: list[Call] = []

    def malloc(self, size_bytes: int) -> int:
        """Return the next base."""
        self._calls.append(["malloc", size_bytes])
        if self.fault is not None:
            raise self.fault
        if size_bytes > self.mem_get_info()[0]:
            raise MemoryError(f"{size_bytes} bytes wanted, {self.mem_get_info()[0]} left")
        base = self._end if self.next_base is None else self.next_base
        self._end = max(self._end, base + size_bytes)
        self.sizes[base] = size_bytes
        return base

    def free(self, address: int) -> None:
        """Take a segment back."""
        self._calls.append(["free", address])
        del self.sizes[address]

    def mem_get_info(self) -> tuple[int, int]:
        """Return free and total bytes."""
        return self.total - self.others - sum(self.sizes.values()), self.total

    def take_calls(self) -> list[Call]:
        """Return the calls since the last time; in which order segments go back is open, so those are sorted."""
        calls, self._calls = self._calls, []
        groups = [(name, list(group)) for name, group in groupby(calls, key=lambda call: call[0])]
        return [call for name, group in groups for call in (sorted(group) if name == "free" else group)]


def draw(segments: list[Any], free_bytes: int) -> Pair:
    """Return a map of the segments in both languages."""
    shown = segments[:8]
    width = max((len(f"{it.base:#x}") for it in shown), default=0)
    rows = [f"{f'{it.base:#x}':>{width}} |{_draw_row(it)}| {it.size / MIB:g} MiB" for it in shown]
    english = [f"{row}, stream {it.stream}" for row, it in zip(rows, shown, strict=True)]
    chinese = [f"{row}，{it.stream} 号流" for row, it in zip(rows, shown, strict=True)]
    if len(segments) > len(shown):
        english.append(f"and {len(segments) - len(shown)} more segments")
        chinese.append(f"另有 {len(segments) - len(shown)} 个段")
    english.append(f"[## handed out   (.. free      free on the GPU: {free_bytes} bytes")
    chinese.append(f"[## 已交出   (.. 空闲      GPU 上空闲：{free_bytes} 字节")
    return "\n".join(english), "\n".join(chinese)


def _draw_row(segment: Any) -> str:
    cells = [" "] * CELLS
    # Blocks in use are drawn over free ones: a few bytes that hold a whole segment must be seen.
    pieces = [(block, "(.") for block in segment.free] + [(block, "[#") for block in segment.handed_out]
    for block, (bracket, filling) in pieces:
        first = (block.addr - segment.base) * CELLS // segment.size
        last = -(-(block.addr + block.size - segment.base) * CELLS // segment.size)
        cells[first:last] = [filling] * (last - first)
        cells[first] = bracket
    return "".join(cells)
