"""Observations made by hand."""

from __future__ import annotations

from dataclasses import replace

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
        Touch(f"mul{text}", place(7), "stream 1", f"s{text}"),
        Touch("copy_", place(8), "host"),
        {"en": f"no wait{text}", "zh": f"没有等待{text}"},
        {"en": f"call `x.record_stream(s)`{text}", "zh": f"调用 `x.record_stream(s)`{text}"},
        (Look("input", "mul", 3, "1.0", f"nan{text}"), Look("output", "mul", 3, "2.0", "nan")),
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


def straight() -> Observation:
    """Return the same of a script that launches too little for steps."""
    seen = busy()
    return replace(seen, spans=seen.spans[-2:])


def stepping(every: int = 1) -> Observation:
    """Return what was seen of a copy, and eight steps of twelve launches, with a wait in every first, second… step."""
    spans = [DeviceSpan("copy", "default", "h2d", 5.0, 8.0, 4.0, place(1))]
    syncs = [Sync("copy_h2d", "Tensor.to", place(1), "default", 4.0, 30.0)]
    host_us = 40.0
    for step in range(8):
        for at in range(12):
            host_us += 5.0
            spans.append(DeviceSpan("mm", "default", "sm", host_us + 1, host_us + 3, host_us, place(10 + at)))
        if step % every == every - 1:
            syncs.append(Sync("item", "Tensor.item", place(30), "default", host_us, 5.0))
            host_us += 5.0
    return Observation("sim", "NVIDIA H200", tuple(syncs), (), tuple(spans), launches=97, stopped_us=host_us)
