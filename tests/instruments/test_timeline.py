"""Busy, idle and overlapping time."""

from __future__ import annotations

import pytest

from judge.devices.sim.sites import Site
from judge.instruments.intervals import merge, sweep
from judge.instruments.observation import DeviceSpan, StreamTime, Sync, Timeline
from judge.instruments.timeline import measure_timeline

SITE = Site("script.py", 1, "main")


def span(stream: str, start_us: float, end_us: float) -> DeviceSpan:
    """Return some kernel."""
    return DeviceSpan("kernel", stream, "sm", start_us, end_us, start_us - 1, SITE)


def wait(start_us: float, waited_us: float) -> Sync:
    """Return some wait."""
    return Sync("item", "Tensor.item", SITE, "default", start_us, waited_us)


def measure(*spans: DeviceSpan, syncs: tuple[Sync, ...] = (), stopped_us: float = 0.0) -> Timeline:
    """Return the figures of a run that starts at 0."""
    return measure_timeline(spans, syncs, started_us=0.0, stopped_us=stopped_us, launches=len(spans))


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([], []),
        ([(2, 3), (0, 1)], [(0, 1), (2, 3)]),
        ([(0, 2), (1, 3), (3, 4)], [(0, 4)]),
        ([(0, 5), (1, 2)], [(0, 5)]),
        ([(1, 1)], []),
    ],
    ids=["none", "apart", "touching", "inside", "empty"],
)
def test_intervals_are_merged(intervals: list[tuple[float, float]], expected: list[tuple[float, float]]) -> None:
    """The union is disjoint and sorted."""
    assert expected == merge(intervals)


def test_a_sweep_counts_where_one_and_where_two_rows_are_busy() -> None:
    """A third row at the same time counts once more for neither."""
    assert (7.0, 3.0) == sweep([[(0, 4), (6, 8)], [(1, 3), (7, 9)], [(2, 3)]])


def test_work_after_the_stop_belongs_to_the_makespan() -> None:
    """The host may be far ahead of the device."""
    timeline = measure(span("default", 5, 25), stopped_us=10.0)
    assert (25.0, 10.0, 5.0) == (timeline.makespan_us, timeline.host_us, timeline.device_idle_us)


def test_host_time_leaves_out_the_waits() -> None:
    """A host that waits does not work."""
    assert 6.0 == measure(syncs=(wait(1, 3), wait(5, 1)), stopped_us=10.0).host_us


def test_streams_stand_in_the_order_of_their_first_use() -> None:
    """Overlapping kernels of one stream count once."""
    timeline = measure(span("b", 0, 4), span("a", 1, 3), span("b", 2, 6))
    assert (StreamTime("b", 6.0), StreamTime("a", 2.0)) == timeline.streams
    assert 1 / 3 == timeline.overlap


def test_nothing_at_all_has_figures_too() -> None:
    """No division by nothing."""
    timeline = measure()
    assert (0.0, 0.0, 0.0, ()) == (timeline.makespan_us, timeline.idle, timeline.overlap, timeline.streams)


def test_kernels_and_copies_are_counted_apart() -> None:
    """Work that was dropped is known by its number."""
    copy = DeviceSpan("copy", "default", "h2d", 0, 1, -1, SITE)
    timeline = measure_timeline(
        [copy, span("default", 1, 2)], (), started_us=0.0, stopped_us=5.0, launches=9, dropped_spans=7
    )
    assert (9, 8, 1) == (timeline.launches, timeline.kernels, timeline.copies)
