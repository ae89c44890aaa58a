"""Observations made by hand."""

from __future__ import annotations

from judge.devices.sim.sites import Site
from judge.instruments.observation import DeviceSpan, Look, Observation, Owner, Race, Sync, Touch

FILE = __file__
HOSTILE = "\x1b[31m[bold]\u202e\x07"


def place(line: int) -> Site:
    """Return a line of this file."""
    return Site(FILE, line, "main")


def quiet() -> Observation:
    """Return what was seen of a script that did nothing."""
    return Observation("sim", "NVIDIA H200", stopped_us=10.0)


def busy(text: str = "") -> Observation:
    """Return what was seen of a script with waits, a race, two streams, and notes; ``text`` stands in every name."""
    spans = [
        DeviceSpan(f"mm{text}", "default", "sm", 20.0 * at, 20.0 * at + 15, 20.0 * at - 4, place(3 + at % 2))
        for at in range(20)
    ]
    spans.append(DeviceSpan(f"copy{text}", f"stream 1{text}", "h2d", 100.0, 180.0, 90.0, place(9)))
    syncs = [Sync("item", f"Tensor.item{text}", place(5), "default", 20.0 * at, 5.0) for at in range(4)]
    syncs += [Sync("device_synchronize", "torch.cuda.synchronize", place(6), "", 380.0, 15.0, False)]
    race = Race(
        f"reused-block{text}",
        Touch(f"mul{text}", place(7), "stream 1"),
        Touch("copy_", place(8), "host"),
        {"en": f"no wait{text}", "zh": f"没有等待{text}"},
        {"en": f"call `x.record_stream(s)`{text}", "zh": f"调用 `x.record_stream(s)`{text}"},
        (Look("input", "mul", 3, "1.0", f"nan{text}"),),
    )
    return Observation(
        "sim",
        f"NVIDIA H200{text}",
        tuple(syncs),
        (race,),
        tuple(spans),
        launches=21,
        stopped_us=400.0,
        peak_allocated_bytes=3 << 20,
        peak_reserved_bytes=4 << 20,
        by_site=(Owner(place(2), 2 << 20), Owner(place(9), 1 << 20)),
        notes=("forked",),
    )
