"""Pictures in plain text: allocated bytes over the trace, and what lies in the segments."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

MIB = 1 << 20
COLUMNS = 60
ROWS = 7

Pair = tuple[str, str]


def draw_curve(snapshot: dict[str, Any], device: int, expected: int, actual: int) -> Pair:
    """Return the change of allocated bytes over the trace, with a mark at two events."""
    sizes, size = [0], 0
    for event in snapshot["device_traces"][device]:
        size += {"alloc": 1, "free_requested": -1}.get(event["action"], 0) * event["size"]
        sizes.append(size)
    columns = min(COLUMNS, len(sizes))
    cuts = [at * len(sizes) // columns for at in range(columns + 1)]
    tops = [max(sizes[a:b]) for a, b in pairwise(cuts)]
    low, high = min(sizes), max(max(sizes), min(sizes) + 1)
    rows = [
        "|" + "".join("#" if (top - low) * ROWS > (high - low) * row else " " for top in tops).rstrip()
        for row in reversed(range(ROWS))
    ]
    marks = [" "] * (columns + 1)
    for event, mark in ((actual, "a"), (expected, "^")):
        marks[1 + max(0, min(columns - 1, (event + 1) * columns // len(sizes)))] = mark
    head = (f"{high / MIB:.1f} MiB", f"{low / MIB:.1f} MiB")
    english = [f"{head[0]} above what was there before", *rows, "".join(marks), "^ expected   a actual"]
    chinese = [f"比开始时多 {head[0]}", *rows, "".join(marks), "^ 期望   a 实际"]
    return "\n".join(english), "\n".join(chinese)


def draw_segments(snapshot: dict[str, Any], device: int = 0, most: int = 8) -> Pair:
    """Return a map of the first segments by address."""
    segments = [it for it in snapshot["segments"] if it["device"] == device]
    rows = [
        f"{it['address']:#x} |{_draw_row(it)}| {it['total_size'] / MIB:g} MiB {it['segment_type']}"
        f" s{it['stream']} {it['segment_pool_id']}"
        for it in segments[:most]
    ]
    rest = len(segments) - len(rows)
    english = [
        *rows,
        *([f"and {rest} more segments"] if rest else []),
        "[## allocated   [~~ pending free   (.. inactive   s: stream   (,): pool id",
    ]
    chinese = [
        *rows,
        *([f"另有 {rest} 个段"] if rest else []),
        "[## 已分配   [~~ 等待释放   (.. 空闲   s：流   (,)：池编号",
    ]
    return "\n".join(english), "\n".join(chinese)


def _draw_row(segment: dict[str, Any], columns: int = 32) -> str:
    cells = [" "] * columns
    looks = {"inactive": "(.", "active_pending_free": "[~", "active_allocated": "[#"}
    # What holds a segment is drawn last: a few bytes must be seen.
    for block in sorted(segment["blocks"], key=lambda it: list(looks).index(it["state"])):
        bracket, filling = looks[block["state"]]
        start, size = block["address"] - segment["address"], segment["total_size"]
        first, last = start * columns // size, -(-(start + block["size"]) * columns // size)
        cells[first:last] = [filling] * (last - first)
        cells[first] = bracket
    return "".join(cells)
