"""Gaps: where they lie, and what they hang on."""

from __future__ import annotations

from typing import Any

import pytest
from support_trace import COPY, LAUNCH, OTHER, PAGEABLE_OUT, Recording

SYNC = "cudaStreamSynchronize"
DRY, NEXT = 30_000, 50_000
"""When the device of most tests runs dry, and when it has work again."""


def test_gaps_lie_between_the_first_and_the_last_work(recording: Recording, reader: Any) -> None:
    """What comes before the first work and after the last is no gap.

    zh: 第一个工作之前、最后一个工作之后都不是空隙。
    """
    recording.call(SYNC, 1_000, 2_000)
    recording.launch(20_000, 30_000)
    recording.launch(31_000, 35_000)
    recording.launch(40_000, 45_000)
    recording.call(SYNC, 50_000, 90_000)
    wanted = [(30_000, 31_000, "queued"), (35_000, 40_000, "queued")]
    reader.gaps(recording.dump(), wanted, spans=recording.spans)


def test_a_stream_that_works_leaves_no_gap(recording: Recording, reader: Any) -> None:
    """The device is dry only when all of its streams are.

    zh: 所有流都没有工作，设备才算空闲。
    """
    recording.launch(10_000, 20_000)
    recording.launch(40_000, 50_000)
    recording.launch(15_000, 38_000, stream=COPY, kind="gpu_memcpy")
    recording.launch(16_000, 17_000, stream=20)
    reader.gaps(recording.dump(), [(38_000, 40_000, "queued")], spans=recording.spans)


def test_another_device_fills_no_gap(recording: Recording, reader: Any) -> None:
    """A gap of one device stays one while another device works, and each has its own.

    zh: 别的设备在工作，也填不上这个设备的空隙；各算各的。
    """
    recording.launch(10_000, 20_000)
    recording.launch(40_000, 50_000)
    recording.launch(18_000, 42_000, device=1)
    recording.launch(43_000, 44_000, device=1)
    trace = recording.dump()
    reader.gaps(trace, [(20_000, 40_000, "queued")], spans=recording.spans)
    reader.gaps(trace, [(42_000, 43_000, "queued")], device=1, spans=recording.spans)


def test_a_work_of_no_length_ends_a_gap(recording: Recording, reader: Any) -> None:
    """A work of length 0 ends a gap and begins the next one, each with its own cause.

    zh: 长度为 0 的工作结束一个空隙，并开始下一个，各有各的原因。
    """
    recording.launch(10_000, DRY)
    recording.launch(40_000, 40_000)
    late = recording.call(LAUNCH, 45_000, 49_000)
    recording.work(NEXT, 60_000, late)
    wanted = [(DRY, 40_000, "queued"), (40_000, NEXT, "launch")]
    reader.gaps(recording.dump(), wanted, spans=recording.spans)


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        pytest.param((26_000, 29_000), "queued", id="returned_before"),
        pytest.param((26_000, DRY), "queued", id="returned_just_then"),
        pytest.param((26_000, DRY + 1), "launch", id="under_way"),
        pytest.param((40_000, 48_000), "launch", id="called_later"),
        pytest.param((40_000, 70_000), "launch", id="returned_after_the_work_began"),
    ],
)
def test_the_call_of_the_next_work_tells_who_was_late(
    recording: Recording, reader: Any, call: tuple[int, int], cause: str
) -> None:
    """The host is not to blame if its call had returned when the device ran dry.

    zh: 设备空下来时，调用若已返回，就不怪主机。
    """
    recording.launch(10_000, DRY)
    recording.work(NEXT, 60_000, recording.call(LAUNCH, *call))
    recording.call(LAUNCH, 75_000, 80_000)
    look = (
        "Compare the end of the call that brought the next work with the start of the gap.",
        "把带来下一个工作的那次调用的结束，与空隙的开始相比。",
    )
    reader.gaps(recording.dump(), [(DRY, NEXT, cause)], spans=recording.spans, look=look)


@pytest.mark.parametrize(
    ("wait", "cause"),
    [
        pytest.param((15_000, 35_000), "sync", id="in_it"),
        pytest.param((DRY, 35_000), "sync", id="begun_just_then"),
        pytest.param((15_000, DRY + 1), "sync", id="over_a_moment_later"),
        pytest.param((15_000, DRY), "launch", id="over_just_then"),
        pytest.param((15_000, 25_000), "launch", id="over_before"),
        pytest.param((DRY + 1, 35_000), "launch", id="begun_later"),
    ],
)
def test_a_host_that_waits_when_the_device_runs_dry_is_held(
    recording: Recording, reader: Any, wait: tuple[int, int], cause: str
) -> None:
    """The cause is a wait only if it was going on at the moment when the device ran dry.

    zh: 只有设备空下来的那一刻正在等待，原因才是等待。
    """
    recording.launch(10_000, DRY)
    recording.call(SYNC, 1_000, 5_000)
    recording.call(SYNC, *wait)
    recording.work(NEXT, 60_000, recording.call(LAUNCH, 40_000, 48_000))
    look = (
        "Look at one moment, the start of the gap: had the wait begun by then, and was it still going on?",
        "只看一个时刻，即空隙的开始：那时等待已经开始了吗？还没有结束吗？",
    )
    reader.gaps(recording.dump(), [(DRY, NEXT, cause)], spans=recording.spans, look=look)


@pytest.mark.parametrize("name", ["cudaEventSynchronize", "cudaDeviceSynchronize", "cudaMemcpy", "cudaStreamWaitEvent"])
def test_only_calls_that_wait_hold_the_host(recording: Recording, reader: Any, name: str) -> None:
    """Whatever waits can be the cause, and nothing else.

    zh: 凡是会等待的调用都可能是原因，别的都不是。
    """
    recording.launch(10_000, DRY)
    recording.call(name, 15_000, 35_000)
    recording.work(NEXT, 60_000, recording.call(LAUNCH, 40_000, 48_000))
    cause = "launch" if name == "cudaStreamWaitEvent" else "sync"
    reader.gaps(recording.dump(), [(DRY, NEXT, cause)], spans=recording.spans)


def test_a_host_that_waits_for_the_next_work_itself_is_held(recording: Recording, reader: Any) -> None:
    """A pageable copy whose own call is under way has a waiting host: the driver goes on only then.

    zh: 可分页拷贝自己的调用还没返回：主机正在等待，驱动这时才往下走。
    """
    recording.launch(10_000, DRY)
    copied = recording.call("cudaMemcpyAsync", 15_000, 58_000)
    recording.work(NEXT, 57_000, copied, kind="gpu_memcpy", name=PAGEABLE_OUT)
    look = ("The call of the next work may be the one that waits.", "等待的可能就是下一个工作自己的调用。")
    reader.gaps(recording.dump(), [(DRY, NEXT, "sync")], spans=recording.spans, look=look)


def test_a_wait_of_another_thread_holds_nobody_else(recording: Recording, reader: Any) -> None:
    """What another thread waits for is no excuse for the one that launches.

    zh: 别的线程在等待，与负责启动的线程无关。
    """
    recording.launch(10_000, DRY)
    recording.call(SYNC, 15_000, 49_000, thread=OTHER)
    recording.work(NEXT, 60_000, recording.call(LAUNCH, 40_000, 48_000))
    recording.work(70_000, 75_000, recording.call(LAUNCH, 65_000, 69_000, thread=OTHER))
    recording.call(SYNC, 52_000, 64_000, thread=OTHER)
    wanted = [(DRY, NEXT, "launch"), (60_000, 70_000, "sync")]
    look = ("A thread is `pid` and `tid` of a call. Whose wait was it?", "线程就是调用的 `pid` 和 `tid`。是谁在等？")
    reader.gaps(recording.dump(), wanted, spans=recording.spans, look=look)


def test_a_call_before_the_recording_is_unknown(recording: Recording, reader: Any) -> None:
    """Without a call for the next work nobody can be blamed, whoever waits.

    zh: 下一个工作在 trace 里没有调用，就说不清是谁的责任，不论谁在等待。
    """
    recording.launch(10_000, DRY)
    recording.call(SYNC, 15_000, 35_000)
    recording.work(NEXT, 60_000, 50)
    reader.gaps(recording.dump(), [(DRY, NEXT, "unknown")], spans=recording.spans)


@pytest.mark.parametrize("first", ["late", "early"])
def test_of_works_that_start_together_the_first_called_counts(recording: Recording, reader: Any, first: str) -> None:
    """Of several works that start at the gap's end, the lowest correlation decides.

    zh: 空隙结束时若有几个工作同时开始，看 correlation 最小的那个。
    """
    recording.launch(10_000, DRY)
    early = recording.call(LAUNCH, 20_000, 25_000)
    late = recording.call(LAUNCH, 40_000, 48_000)
    lengths = (1_000, 9_000) if first == "late" else (9_000, 1_000)
    recording.work(NEXT, NEXT + lengths[0], late, stream=COPY)
    recording.work(NEXT, NEXT + lengths[1], early)
    reader.gaps(recording.dump(), [(DRY, NEXT, "queued")], spans=recording.spans)


def test_a_replay_explains_all_of_its_works(recording: Recording, reader: Any) -> None:
    """The gaps inside a graph's replay lie in the device: one call brought all works.

    zh: 一次回放内部的空隙是设备自己的：所有工作来自同一次调用。
    """
    recording.launch(10_000, DRY)
    replay = recording.call("cudaGraphLaunch", 35_000, 42_000)
    for at in range(3):
        recording.work(NEXT + 992 * at, NEXT + 992 * at + 864, replay)
    wanted = [(DRY, NEXT, "launch"), (NEXT + 864, NEXT + 992, "queued"), (NEXT + 1856, NEXT + 1984, "queued")]
    look = (
        "One call may start many works; all have its correlation.",
        "一次调用可以启动很多工作，correlation 都相同。",
    )
    reader.gaps(recording.dump(), wanted, spans=recording.spans, look=look)
