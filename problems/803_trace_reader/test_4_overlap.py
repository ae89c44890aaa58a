"""Overlap of copies with kernels."""

from __future__ import annotations

from typing import Any

from support_trace import COPY, Recording


def test_what_lies_under_a_kernel_is_hidden(recording: Recording, reader: Any) -> None:
    """Of a copy that starts under a kernel the part behind it is not hidden.

    zh: 拷贝在 kernel 期间开始，超出 kernel 的部分没有被掩盖。
    """
    recording.launch(10_000, 20_000)
    recording.launch(14_000, 30_000, kind="gpu_memcpy", stream=COPY)
    recording.launch(28_000, 35_000)
    recording.launch(40_000, 41_000, kind="gpu_memcpy", stream=COPY)
    reader.overlap(recording.dump(), (17_000, 8_000), spans=recording.spans)


def test_two_copies_at_once_count_once(recording: Recording, reader: Any) -> None:
    """Copies in both directions at once are one time, and hidden once.

    zh: 两个方向同时拷贝，时间只算一次，掩盖也只算一次。
    """
    recording.launch(10_000, 20_000)
    recording.launch(12_000, 22_000, kind="gpu_memcpy", stream=COPY)
    recording.launch(14_000, 24_000, kind="gpu_memcpy", stream=20)
    reader.overlap(recording.dump(), (12_000, 8_000), spans=recording.spans)


def test_two_kernels_at_once_hide_once(recording: Recording, reader: Any) -> None:
    """Two kernels beside the same moment of a copy hide it once.

    zh: 两个 kernel 与拷贝的同一时刻重叠，只算掩盖一次。
    """
    recording.launch(10_000, 20_000)
    recording.launch(15_000, 25_000, stream=20)
    recording.launch(12_000, 30_000, kind="gpu_memcpy", stream=COPY)
    recording.launch(13_000, 14_000, stream=20)
    look = (
        "Is each pair of a copy and a kernel added, so that moments count twice?",
        "是不是把每一对拷贝与 kernel 都加了一遍，同一时刻算了两次？",
    )
    reader.overlap(recording.dump(), (18_000, 13_000), spans=recording.spans, look=look)


def test_a_memset_is_neither_copy_nor_kernel(recording: Recording, reader: Any) -> None:
    """A memset hides no copy, and is none.

    zh: memset 既不是拷贝，也不能掩盖拷贝。
    """
    recording.launch(10_000, 20_000, kind="gpu_memset")
    recording.launch(12_000, 18_000, kind="gpu_memcpy", stream=COPY)
    recording.launch(30_000, 40_000, kind="gpu_memset")
    recording.launch(30_000, 36_000, stream=20)
    reader.overlap(recording.dump(), (6_000, 0), spans=recording.spans)


def test_a_kernel_of_another_device_hides_nothing(recording: Recording, reader: Any) -> None:
    """Copies and kernels count on their own device.

    zh: 拷贝和 kernel 只在各自的设备上计算。
    """
    recording.launch(10_000, 20_000, device=1)
    recording.launch(12_000, 18_000, kind="gpu_memcpy", stream=COPY)
    recording.launch(19_000, 24_000, kind="gpu_memcpy", stream=COPY, device=1)
    trace = recording.dump()
    reader.overlap(trace, (6_000, 0), spans=recording.spans)
    reader.overlap(trace, (5_000, 1_000), device=1, spans=recording.spans)


def test_a_copy_beside_its_neighbours_is_not_hidden(recording: Recording, reader: Any) -> None:
    """Kernels that end where a copy starts, or start where it ends, hide nothing.

    zh: kernel 结束时拷贝才开始，或拷贝结束时 kernel 才开始，都没有掩盖。
    """
    recording.launch(10_000, 20_000)
    recording.launch(20_000, 25_000, kind="gpu_memcpy", stream=COPY)
    recording.launch(25_000, 30_000)
    reader.overlap(recording.dump(), (5_000, 0), spans=recording.spans)
