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
    assert ["主机    | .      ww|", *drawn["en"].splitlines()[1:3]] == drawn["zh"].splitlines()[:3]


def test_pieces_are_numbered_by_engine() -> None:
    """Of as many as come back to the host; work that does not divide evenly keeps its sign."""
    spans = [span(20 * at, 20 * at + 10, "in", "h2d") for at in range(3)]
    spans += [span(20 * at + 10, 20 * at + 20, "default", "sm") for at in range(2)]
    spans += [span(20 * at + 20, 20 * at + 30, "out", "d2h") for at in range(3)]
    drawn = draw_timeline(Observation("sim", "H200", spans=tuple(spans), stopped_us=100.0), width=10, by_piece=True)
    assert [
        "host     |          |",
        "copy in  |0 1 2     |",
        "compute  | # #      |",
        "copy out |  0 1 2   |",
    ] == drawn["en"].splitlines()[:4]
    assert ["主机 |          |", "拷入 |0 1 2     |"] == drawn["zh"].splitlines()[:2]
    assert "数字是第几份" in drawn["zh"]


def test_nothing_at_all_can_be_drawn() -> None:
    """An empty block has no span to scale to."""
    assert "host |          |" == draw_timeline(Observation("sim", "H200"), width=10)["en"].splitlines()[0]
