"""A picture in plain text: what lies in each segment, and how far each stream has come."""

from __future__ import annotations

from typing import Any

CELLS = 48
MIB = 1 << 20

Pair = tuple[str, str]


def draw(device: Any, blocks: list[tuple[int, int, str]]) -> Pair:
    """Return the picture in both languages.

    Args:
        device: the scripted device.
        blocks: the solution's snapshot.
    """
    rows = [_draw_segment(base, size, blocks) for base, size in sorted(device.sizes.items())[:4]]
    width = max((len(f"{base:#x}") for base, _, _ in rows), default=0)
    english = [f"{f'{base:#x}':>{width}} |{row}| {size // MIB} MiB" for base, size, row in rows]
    chinese = list(english)
    for stream in sorted(device.queued):
        labels, done = device.queued[stream], device.done.get(stream, 0)
        tail = labels[max(0, done - 2) : done + 4]
        marks = [("v " if at < min(done, 2) else "> ") + label for at, label in enumerate(tail)]
        english.append(f"stream {stream}: {'  '.join(marks) or '-'}")
        chinese.append(f"{stream} 号流：{'  '.join(marks) or '-'}")
    english.append("[## handed out   [~~ waits   ... free      v done   > not done yet")
    chinese.append("[## 已交出   [~~ 等待中   ... 空闲      v 已完成   > 尚未完成")
    return "\n".join(english), "\n".join(chinese)


def _draw_segment(base: int, size: int, blocks: list[tuple[int, int, str]]) -> tuple[int, int, str]:
    cells = ["."] * CELLS
    for addr, length, state in sorted(blocks):
        if base <= addr < base + size:
            first = (addr - base) * CELLS // size
            last = max(first + 1, -(-(addr + length - base) * CELLS // size))
            filling = "#" if state == "active_allocated" else "~"
            cells[first:last] = [filling] * (min(last, CELLS) - first)
            cells[first] = "["
    return base, size, "".join(cells)
