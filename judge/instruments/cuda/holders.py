"""Who held the device's memory at its peak, from the history of allocations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judge.devices.sim.sites import UNKNOWN, Site
from judge.instruments.cuda.frames import is_users
from judge.instruments.observation import Owner


def find_holders(entries: Iterable[Mapping[str, Any]]) -> tuple[Owner, ...]:
    """Return the lines that held memory when most was in use, the most first.

    Args:
        entries: the trace of one device, as ``torch.cuda.memory._snapshot()["device_traces"]`` holds it.
    """
    live: dict[int, tuple[Site, int]] = {}
    in_use = peak = 0
    at_peak: list[tuple[Site, int]] = []
    is_rising = False
    for entry in entries:
        if entry["action"] == "alloc":
            live[entry["addr"]] = (find_user_site(entry.get("frames", ())), entry["size"])
            in_use += entry["size"]
            is_rising = is_rising or in_use > peak
            peak = max(peak, in_use)
        elif entry["action"] == "free_requested" and entry["addr"] in live:
            if is_rising and in_use == peak:
                at_peak = list(live.values())
            is_rising = False
            in_use -= live.pop(entry["addr"])[1]
    if is_rising and in_use == peak:
        at_peak = list(live.values())
    held: Counter[Site] = Counter()
    for site, size in at_peak:
        held[site] += size
    return tuple(Owner(site, size) for site, size in held.most_common())


def find_user_site(frames: Sequence[Mapping[str, Any]]) -> Site:
    """Return the innermost user line of recorded frames, innermost first."""
    for frame in frames:
        if is_users(frame["filename"]):
            return Site(frame["filename"], frame["line"], frame["name"])
    return UNKNOWN
