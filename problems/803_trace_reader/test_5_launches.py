"""Launches: which call started which work, and when."""

from __future__ import annotations

from typing import Any

from support_trace import COPY, LAUNCH, OTHER, Recording

LOOK = (
    "Calls and works are joined by args['correlation']: not by order, name, arrow or External id.",
    "调用和工作靠 args['correlation'] 对应：不看次序、名字、箭头，也不看 External id。",
)


def test_a_delay_reaches_from_call_to_work(recording: Recording, reader: Any) -> None:
    """The delay is counted from the start of the call, and a work may start before its call has returned.

    zh: 延迟从调用开始算起；工作可能在调用返回之前就开始。
    """
    first = recording.call(LAUNCH, 10_000, 16_000)
    second = recording.call(LAUNCH, 20_000, 24_000)
    recording.work(15_500, 40_000, first)
    recording.work(40_100, 41_000, second)
    wanted = [(LAUNCH, 10_000, 1, 5_500), (LAUNCH, 20_000, 1, 20_100)]
    reader.launches(recording.dump(), wanted, spans=recording.spans)


def test_works_of_two_streams_overtake_one_another(recording: Recording, reader: Any) -> None:
    """What was called later may start earlier on another stream.

    zh: 后调用的工作可能在另一个流上先开始。
    """
    first = recording.call(LAUNCH, 10_000, 16_000)
    second = recording.call("cudaMemcpyAsync", 20_000, 24_000)
    recording.work(60_000, 61_000, first)
    recording.work(25_000, 40_000, second, kind="gpu_memcpy", stream=COPY)
    wanted = [(LAUNCH, 10_000, 1, 50_000), ("cudaMemcpyAsync", 20_000, 1, 5_000)]
    reader.launches(recording.dump(), wanted, spans=recording.spans, look=LOOK)


def test_a_replay_is_one_launch(recording: Recording, reader: Any) -> None:
    """A graph's replay is one call with many works, and the first to start counts.

    zh: 一次回放是一次调用、很多工作，看最先开始的那个。
    """
    replay = recording.call("cudaGraphLaunch", 10_000, 18_000)
    for start in (22_000, 20_500, 24_000, 26_000):
        recording.work(start, start + 900, replay)
    reader.launches(recording.dump(), [("cudaGraphLaunch", 10_000, 4, 10_500)], spans=recording.spans)


def test_a_call_without_work_is_no_launch(recording: Recording, reader: Any) -> None:
    """Neither calls without works nor works without a call are listed, nor calls of the same name in a capture.

    zh: 没有工作的调用、没有调用的工作都不列出，捕获期间同名的调用也不列出。
    """
    recording.call("cudaStreamIsCapturing", 1_000, 2_000)
    recording.call(LAUNCH, 3_000, 5_000)
    known = recording.call(LAUNCH, 10_000, 12_000)
    recording.work(13_000, 14_000, known)
    recording.work(15_000, 16_000, 50)
    recording.call("cudaStreamSynchronize", 18_000, 19_000)
    reader.launches(recording.dump(), [(LAUNCH, 10_000, 1, 3_000)], spans=recording.spans, look=LOOK)


def test_calls_of_all_threads_devices_and_layers_come_in_order(recording: Recording, reader: Any) -> None:
    """Launches through the driver, of other threads and for other devices are listed, by their starts.

    zh: 通过驱动的、其他线程的、为其他设备的启动都要列出，按开始时间排列。
    """
    late = recording.call("cuLaunchKernelEx", 30_000, 33_000, driver=True)
    early = recording.call(LAUNCH, 10_000, 12_000, thread=OTHER)
    middle = recording.call("cudaMemsetAsync", 20_000, 22_000)
    recording.work(34_000, 35_000, late)
    recording.work(50_000, 51_000, early, device=1)
    recording.work(23_000, 24_000, middle, kind="gpu_memset")
    wanted = [
        (LAUNCH, 10_000, 1, 40_000),
        ("cudaMemsetAsync", 20_000, 1, 3_000),
        ("cuLaunchKernelEx", 30_000, 1, 4_000),
    ]
    reader.launches(recording.dump(), wanted, spans=recording.spans)
