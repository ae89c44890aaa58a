"""A map of one segment in plain text, in both languages."""

from __future__ import annotations

import unicodedata
from typing import Any

GRAIN = 512
CELLS = 60
CAPTION_CELLS = 9

Pair = tuple[str, str]
Block = tuple[int, int, bool]
"""Address, size, and whether it is allocated."""

ACTUAL: Pair = ("actual", "实际")
ALLOCATED, FREE = "[#", "(."
"""How a block begins, and how it goes on."""


def draw_map(segment: tuple[int, int, int], focus: int, rows: dict[Pair, list[Block]]) -> Pair:
    """Return a map of one segment, at most 76 columns wide, zoomed in on ``focus``.

    Args:
        segment: base, size, stream.
        focus: address of the block in question.
        rows: by caption: blocks by address.
    """
    base, size, stream = segment
    cell = _choose_cell(size, focus, rows)
    start = max(base, min(focus - cell * CELLS // 3, base + size - cell * CELLS))
    start -= (start - base) % cell
    drawn = [(caption, _draw_row(blocks, start, cell, base + size).rstrip()) for caption, blocks in rows.items()]
    caret = " " * (CAPTION_CELLS + 1 + (focus - start) // cell) + "^"
    english = [
        f"segment at {base:#x}, {size} bytes, stream {stream}",
        f"from +{start - base}, {cell} bytes a character:",
        *(f"{_pad(caption[0])} {row or '(no segment here)'}" for caption, row in drawn),
        caret,
        "[## allocated   (.. free   each block begins with its bracket",
    ]
    chinese = [
        f"段从 {base:#x} 开始，{size} 字节，属于 {stream} 号流",
        f"从 +{start - base} 画起，每个字符代表 {cell} 字节：",
        *(f"{_pad(caption[1])} {row or '（这里没有段）'}" for caption, row in drawn),
        caret,
        "[## 已分配   (.. 空闲   每个块以自己的括号开头",
    ]
    return "\n".join(english), "\n".join(chinese)


def _choose_cell(size: int, focus: int, rows: dict[Pair, list[Block]]) -> int:
    """Return how many bytes a character stands for: the block in question takes a quarter of the width at most."""
    near = [block for blocks in rows.values() for block in blocks if block[0] <= focus < block[0] + block[1]]
    cell = GRAIN
    while cell * CELLS < min(size, 4 * max((block[1] for block in near), default=GRAIN)):
        cell *= 2
    return cell


def _draw_row(blocks: list[Block], start: int, cell: int, end: int) -> str:
    cells = [" "] * min(CELLS, -(-(end - start) // cell))
    for addr, size, is_allocated in blocks:
        bracket, filling = ALLOCATED if is_allocated else FREE
        for at in range(max(0, (addr - start) // cell), min(len(cells), -(-(addr + size - start) // cell))):
            cells[at] = filling
        if 0 <= (addr - start) // cell < len(cells):
            cells[(addr - start) // cell] = bracket
    return "".join(cells)


def _pad(caption: str) -> str:
    """Return a caption, set flush right; a Chinese character takes two columns."""
    cells = sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in caption)
    return " " * (CAPTION_CELLS - cells) + caption


def find_odd_part(segments: Any) -> tuple[str, str, str] | None:
    """Return the first part of a snapshot that has not its type: its place, the type wanted, the type it has."""
    if type(segments) is not list:
        return "snapshot()", "list", type(segments).__name__
    for at, segment in enumerate(segments):
        place = f"snapshot()[{at}]"
        odd = _compare_types(place, segment, (int, int, int, list))
        if odd is not None:
            return odd
        for number, block in enumerate(segment[3]):
            odd = _compare_types(f"{place}[3][{number}]", block, (int, int, bool))
            if odd is not None:
                return odd
    return None


def _compare_types(place: str, value: Any, parts: tuple[type, ...]) -> tuple[str, str, str] | None:
    if type(value) is tuple and [type(part) for part in value] == list(parts):
        return None
    wanted = f"tuple[{', '.join(part.__name__ for part in parts)}]"
    has = type(value).__name__
    if isinstance(value, list | tuple):
        has += f"[{', '.join(type(part).__name__ for part in value)}]"
    return place, wanted, has
