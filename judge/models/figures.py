"""Figures as people read them."""

from __future__ import annotations

import math


def format_figure(value: float | None, unit: str) -> str:
    """Return a figure with its unit, bytes as KiB, MiB or GiB; ``-`` where there is none."""
    if value is None:
        return "-"
    if unit in ("B", "bytes") and abs(value) >= 1024 and math.isfinite(value):
        power = min(int(math.log(abs(value), 1024)), 4)
        return f"{value / 1024**power:.4g} {'KMGT'[power - 1]}iB"
    is_whole = math.isfinite(value) and value == int(value) and abs(value) < 1e15
    return f"{int(value) if is_whole else format(value, '.3g')} {unit}".rstrip()
