"""Waits of the host: by the name of the call, or by what it copies."""

from __future__ import annotations

from typing import Any

import pytest
from support_trace import OTHER, PAGEABLE_IN, PAGEABLE_OUT, PINNED_IN, PINNED_OUT, Recording

COPY_CALL = "cudaMemcpyAsync"


@pytest.mark.parametrize(
    "name", ["cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize", "cudaMemcpy"]
)
def test_a_call_waits_by_its_name(recording: Recording, reader: Any, name: str) -> None:
    """A synchronisation and a blocking copy wait, also when they took no time.

    zh: 同步调用和阻塞拷贝会等待，哪怕没有花时间。
    """
    recording.launch(10_000, 30_000)
    recording.call(name, 12_000, 31_500)
    recording.call(name, 40_000, 40_000)
    wanted = [(name, 12_000, 19_500), (name, 40_000, 0)]
    reader.waits(recording.dump(), wanted, spans=recording.spans)


@pytest.mark.parametrize(
    "name",
    [
        "cudaLaunchKernel",
        "cudaStreamWaitEvent",
        "cudaEventRecordWithFlags",
        "cudaEventQuery",
        "cudaStreamIsCapturing",
        "cudaMemsetAsync",
        "cudaGraphLaunch",
    ],
)
def test_other_calls_never_wait(recording: Recording, reader: Any, name: str) -> None:
    """No other call waits, however long it took: cudaStreamWaitEvent lets a stream wait, not the host.

    zh: 其他调用都不等待，不论花了多久：cudaStreamWaitEvent 让流等待，而不是让主机等待。
    """
    recording.call(name, 12_000, 90_000)
    look = ("Is a call taken for a wait by a part of its name?", "是不是凭名字的一部分就当成了等待？")
    reader.waits(recording.dump(), [], spans=recording.spans, look=look)


@pytest.mark.parametrize(
    ("copied", "size_bytes", "is_wait"),
    [
        pytest.param(PAGEABLE_OUT, 2, True, id="out_pageable_small"),
        pytest.param(PAGEABLE_OUT, 1 << 22, True, id="out_pageable"),
        pytest.param(PAGEABLE_IN, 1 << 22, True, id="in_pageable"),
        pytest.param(PAGEABLE_IN, 65_537, True, id="in_pageable_64KiB+1"),
        pytest.param(PAGEABLE_IN, 65_536, False, id="in_pageable_64KiB"),
        pytest.param(PINNED_IN, 1 << 22, False, id="in_pinned"),
        pytest.param(PINNED_OUT, 1 << 22, False, id="out_pinned"),
        pytest.param("Memcpy DtoD (Device -> Device)", 1 << 22, False, id="on_the_device"),
    ],
)
def test_an_asynchronous_copy_waits_for_pageable_memory(
    recording: Recording, reader: Any, copied: str, size_bytes: int, is_wait: bool
) -> None:
    """An asynchronous copy waits if its own work copied pageable memory: out always, in above 64 KiB.

    zh: cudaMemcpyAsync 自己的工作涉及可分页内存时会等待：拷出总是等，拷入超过 64 KiB 才等。
    """
    other = PINNED_IN if is_wait else PAGEABLE_OUT
    first = recording.call("cudaStreamIsCapturing", 1_000, 2_000)
    correlation = recording.call(COPY_CALL, 10_000, 25_000)
    recording.work(15_000, 24_000, correlation, kind="gpu_memcpy", name=copied, size_bytes=size_bytes)
    recording.work(12_000, 14_000, first, kind="gpu_memcpy", name=other)
    wanted = [(COPY_CALL, 10_000, 15_000)] if is_wait else []
    look = (
        "The name and the bytes stand in the work with the same correlation, not in the call.",
        "名字和字节数写在 correlation 相同的那个工作里，不在调用里。",
    )
    reader.waits(recording.dump(), wanted, spans=recording.spans, look=look)


def test_a_copy_without_a_work_is_no_wait(recording: Recording, reader: Any) -> None:
    """A cudaMemcpyAsync whose work the trace lacks is no wait.

    zh: trace 里没有对应工作的 cudaMemcpyAsync 不算等待。
    """
    recording.call(COPY_CALL, 10_000, 25_000)
    reader.waits(recording.dump(), [], spans=recording.spans)


def test_waits_of_all_threads_come_in_order(recording: Recording, reader: Any) -> None:
    """Waits come in the order of their starts, whatever their thread.

    zh: 等待按开始时间排列，不论属于哪个线程。
    """
    recording.call("cudaStreamSynchronize", 30_000, 34_000)
    recording.call("cudaEventSynchronize", 10_000, 50_000, thread=OTHER)
    recording.call("cudaDeviceSynchronize", 20_000, 21_000)
    wanted = [
        ("cudaEventSynchronize", 10_000, 40_000),
        ("cudaDeviceSynchronize", 20_000, 1_000),
        ("cudaStreamSynchronize", 30_000, 4_000),
    ]
    reader.waits(recording.dump(), wanted, spans=recording.spans)


def test_a_call_without_a_length_took_none(recording: Recording, reader: Any) -> None:
    """A call without `dur` has no length.

    zh: 没有 `dur` 的调用长度为 0。
    """
    recording.call("cudaDeviceSynchronize", 12_000, 14_000)
    recording.lose("dur")
    reader.waits(recording.dump(), [("cudaDeviceSynchronize", 12_000, 0)])


def test_a_label_named_like_a_wait_is_none(recording: Recording, reader: Any) -> None:
    """An operator or annotation with the name of a wait is none.

    zh: 与等待同名的算子或标注不算等待。
    """
    fields = {"name": "cudaStreamSynchronize", "pid": 448, "tid": 448, "ts": 10.0, "dur": 5.0}
    for category in ("cpu_op", "user_annotation", "python_function", "cuda_sync"):
        recording.skip("X", cat=category, **fields, args={"correlation": 7, "device": 0, "stream": 7})
    look = (
        "Calls of the host have `cat` cuda_runtime or cuda_driver.",
        "主机的调用，`cat` 是 cuda_runtime 或 cuda_driver。",
    )
    reader.waits(recording.dump(), [], look=look)
