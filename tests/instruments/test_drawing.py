"""The timeline as a picture of a failed test."""

from __future__ import annotations

from judge.devices.sim.sites import Site
from judge.instruments.drawing import draw_timeline
from judge.instruments.observation import DeviceSpan, Engine, Observation, Sync

SITE = Site("my.py", 3, "run")


def span(start: float, end: float, stream: str, engine: Engine, launched: float | None = None) -> DeviceSpan:
    """Return work of the device."""
    return DeviceSpan("op", stream, engine, start, end, launched, SITE)


def test_each_stream_has_a_row_and_the_host_its_waits() -> None:
    """Copies and kernels have signs of their own, launches too; what is short is still seen."""
    seen = Observation(
        "sim",
        "H200",
        syncs=(Sync("item", "Tensor.item", SITE, "default", 80.0, 20.0),),
        spans=(span(0, 30, "copy", "h2d"), span(30, 80, "default", "sm", 15), span(80, 80.1, "copy", "d2h")),
        stopped_us=100.0,
    )
    drawn = draw_timeline(seen, width=10)
    assert [
        "host    | .      ww|",
        "copy    |>>>     < |",
        "default |   #####  |",
    ] == drawn["en"].splitlines()[:3]
    assert drawn["en"].splitlines()[3].startswith("100 us; > copy to the device")
    assert drawn["zh"].splitlines()[:3] == drawn["en"].splitlines()[:3]


def test_nothing_at_all_can_be_drawn() -> None:
    """An empty block has no span to scale to."""
    assert "host |          |" == draw_timeline(Observation("sim", "H200"), width=10)["en"].splitlines()[0]
