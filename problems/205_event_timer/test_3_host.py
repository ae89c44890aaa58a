"""What the host does: how often it waits, and the floor below which the timer is blind."""

from __future__ import annotations

import statistics
from typing import Any

import pytest
import torch

WAITS = 2


@pytest.mark.weight(2)
@pytest.mark.budget(syncs=WAITS)
@pytest.mark.parametrize("repetitions", [3, 30], ids=str)
def test_the_host_waits_twice(bench: Any, watch: Any, expect: Any, measure: Any, repetitions: int) -> None:
    """However many repetitions there are, the host waits twice.

    zh: 不论重复多少次，主机只等两次。
    """
    with watch() as seen:
        timing = bench.measure(lambda: bench.work(0.2), repetitions=repetitions)
    look = (
        "All repetitions can be queued one behind the other: their events keep the times until somebody asks. A wait "
        "in each of them empties the queue, and then the launch is measured, too.",
        "所有重复都可以一个接一个地排入：时间由事件记着，等有人来问。每次都等，队列就空了，连启动也一起量了进去。",
    )
    measure("syncs", len(seen.syncs), "", places=seen.places, look=look)
    expect.waits(seen, most=WAITS, look=look)
    bench.evidence.exact("samples", len(timing.samples_us))


def test_the_floor_is_that_of_an_idle_device(bench: Any, expect: Any) -> None:
    """The floor is what an empty call takes on a device that has nothing to do, whatever is measured.

    zh: 不论测的是什么，下限是空调用在空闲设备上的耗时。
    """
    own_us = statistics.median(_time_nothing() for _ in range(21))
    timing = bench.measure(lambda: bench.work(3), repetitions=5)
    look = (
        "The floor is measured like a repetition, with a call that does nothing, and when the device has done all "
        "that was queued: then it waits for the host, and the time between two events is that of the host.",
        "下限的测法与重复相同，只是调用什么也不做，而且要在设备做完已排入的一切之后：这时设备在等主机，"
        "两个事件之间就是主机的时间。",
    )
    is_near = own_us / 20 <= timing.floor_us <= own_us * 5
    what = ("floor_us is not the time of an empty call", "floor_us 不是空调用的耗时")
    expect.true(is_near, what, look, expected=f"about {own_us:.1f} us", actual=f"{timing.floor_us:.1f} us")
    bench.check(timing, [3] * 5)


def test_an_empty_call_is_at_the_floor(bench: Any, expect: Any) -> None:
    """A call that does nothing takes no longer than the floor tells.

    zh: 什么也不做的调用，耗时不比下限更长。
    """
    timing = bench.measure(lambda: None, repetitions=21)
    what = ("An empty call lies far above the floor", "空调用远高于下限")
    look = (
        "What stands between the two events beside the call? Events are created, streams asked for, lists filled "
        "before the first of them.",
        "两个事件之间除了调用还有什么？创建事件、查询流、写列表，都应在第一个事件之前。",
    )
    is_near = 0 <= timing.median_us <= 5 * timing.floor_us
    expect.true(is_near, what, look, expected=f"≤ {5 * timing.floor_us:.1f} us", actual=f"{timing.median_us:.1f} us")
    bench.evidence.exact("samples", len(timing.samples_us))


def _time_nothing() -> float:
    """Return the microseconds between two events with nothing between. *Synchronises: yes.*"""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    start.record()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end) * 1e3)
