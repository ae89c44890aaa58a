"""Busy time: which events are work, and what a union is."""

from __future__ import annotations

from typing import Any

import pytest
from support_trace import COPY, DEFAULT, Recording


def test_works_apart_add_up(recording: Recording, reader: Any) -> None:
    """Kernels, copies and memsets that don't meet add up.

    zh: 互不重叠的 kernel、拷贝和 memset 逐个相加。
    """
    recording.launch(10_000, 14_000)
    recording.launch(20_000, 25_000, kind="gpu_memcpy", stream=COPY)
    recording.launch(30_000, 30_768, kind="gpu_memset")
    reader.busy(recording.dump(), 9_768, spans=recording.spans)


def test_two_streams_at_once_count_once(recording: Recording, reader: Any) -> None:
    """A moment in which two streams work counts once.

    zh: 两个流同时工作的时间只算一次。
    """
    recording.launch(10_000, 20_000)
    recording.launch(14_000, 26_000, stream=COPY)
    look = ("Are the lengths added up, though two streams ran at once?", "两个流同时在跑，却把时长直接相加了？")
    reader.busy(recording.dump(), 16_000, spans=recording.spans, look=look)


def test_a_short_work_inside_a_long_one_adds_nothing(recording: Recording, reader: Any) -> None:
    """What follows a short work is still covered by the long one that began before it.

    zh: 短的工作结束之后，先开始的长工作还在继续。
    """
    recording.launch(10_000, 40_000)
    recording.launch(12_000, 14_000, stream=COPY)
    recording.launch(20_000, 24_000, stream=COPY)
    recording.launch(39_000, 41_000, stream=COPY)
    look = (
        "The end of a union is the latest end so far, not the end of the work that began last.",
        "并集的结束是目前最晚的结束，不是最后开始的那个工作的结束。",
    )
    reader.busy(recording.dump(), 31_000, spans=recording.spans, look=look)


def test_labels_on_the_row_of_the_device_are_no_work(recording: Recording, reader: Any) -> None:
    """Annotations, synchronisations and operators are no work, wherever they are drawn.

    zh: 标注、同步、算子都不是工作，不论画在哪一行。
    """
    recording.launch(10_000, 11_000)
    recording.skip("X", cat="gpu_user_annotation", name="decode", pid=0, tid=DEFAULT, ts=10.0, dur=900.0, args={})
    recording.skip("X", cat="python_function", name="kernel", pid=0, tid=DEFAULT, ts=10.0, dur=900.0)
    recording.skip("i", cat="kernel", name="mark", pid=0, tid=DEFAULT, ts=15.0, args={"device": 0})
    recording.skip("M")
    look = (
        "Only `ph` X with `cat` kernel, gpu_memcpy or gpu_memset is work; other events may lack every other key.",
        "只有 `ph` 为 X、`cat` 为 kernel、gpu_memcpy 或 gpu_memset 的才是工作；其他事件可能缺少任何别的键。",
    )
    reader.busy(recording.dump(), 1_000, look=look)


def test_another_device_is_another_matter(recording: Recording, reader: Any) -> None:
    """Each device is asked for by itself, and the first is the default.

    zh: 每个设备分别统计，默认是 0 号。
    """
    recording.launch(10_000, 11_000)
    recording.launch(10_000, 15_000, device=1)
    trace = recording.dump()
    reader.busy(trace, 1_000, spans=recording.spans)
    reader.busy(trace, 1_000, device=0, spans=recording.spans)
    reader.busy(trace, 5_000, device=1, spans=recording.spans)
    reader.busy(trace, 0, device=2, spans=recording.spans)


def test_an_empty_trace_is_read(recording: Recording, reader: Any) -> None:
    """Without work times are 0 and lists empty.

    zh: 没有工作时，时间为 0，列表为空。
    """
    for trace in (recording.dump(), {"traceEvents": []}):
        reader.busy(trace, 0)
        reader.gaps(trace, [])
        reader.waits(trace, [])
        reader.overlap(trace, (0, 0))
        reader.launches(trace, [])


def test_a_missing_length_is_0(recording: Recording, reader: Any) -> None:
    """A work without `dur` has no length.

    zh: 没有 `dur` 的工作长度为 0。
    """
    recording.launch(10_000, 12_000)
    recording.launch(20_000, 20_000)
    recording.lose("dur")
    reader.busy(recording.dump(), 2_000, spans=recording.spans)


@pytest.mark.parametrize("origin_us", [0, 5_150_852_397_073], ids=["early", "as_recorded"])
def test_times_are_exact(rng: Any, reader: Any, origin_us: int) -> None:
    """A thousand kernels that follow one another without a gap are as busy as they are long, to the nanosecond.

    zh: 一千个首尾相接的 kernel，忙碌时间精确到纳秒，等于它们的总长。
    """
    recording = Recording(rng, origin_us)
    at = 0
    correlation = recording.call("cudaGraphLaunch", 0, 5_000)
    for _ in range(1000):
        end = at + rng.randrange(1, 3_000)
        recording.work(10_000 + at, 10_000 + end, correlation)
        at = end
    trace = recording.dump()
    look = (
        "Turn each `ts` and each `dur` into whole nanoseconds by itself, and add afterwards: ts + dur is not exact.",
        "先把每个 `ts`、每个 `dur` 分别变成整数纳秒，然后再相加：ts + dur 不是精确的。",
    )
    reader.busy(trace, at, look=look)
    reader.gaps(trace, [], look=look)
