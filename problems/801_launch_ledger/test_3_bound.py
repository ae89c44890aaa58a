"""The bound: which of the two, made free, shortens the step more."""

from __future__ import annotations

from typing import Any

import pytest

LOOK_COUNT = (
    "Neither the number of kernels nor their mean length decides: compare two makespans.",
    "kernel 的个数和平均时长都不能决定：要比较两个总时长。",
)


@pytest.mark.parametrize(
    ("device_ns", "host_ns", "count", "wanted"),
    [
        pytest.param(1_200, 7_000, 1_440, "launch", id="decode"),
        pytest.param(90_000, 7_000, 1_440, "device", id="prefill"),
        pytest.param(7_001, 7_000, 2_000, "device", id="many_but_long_enough"),
        pytest.param(6_999, 7_000, 2_000, "launch", id="nearly_long_enough"),
        pytest.param(7_000, 7_000, 100, "even", id="even"),
        pytest.param(2_000, 7_000, 3, "launch", id="few_but_short"),
        pytest.param(7_000, 7_000, 0, "even", id="none"),
    ],
)
def test_equal_kernels_are_weighed_against_their_launches(
    clerk: Any, device_ns: int, host_ns: int, count: int, wanted: str
) -> None:
    """A step of equal kernels hangs on the longer of kernel and launch, however many there are.

    zh: kernel 都一样时，看 kernel 和启动哪个更长，与个数无关。
    """
    clerk.bound([clerk.kernel("k", device_ns, host_ns, count)], wanted, LOOK_COUNT)


def test_a_few_long_kernels_outweigh_many_short_ones(clerk: Any) -> None:
    """Most kernels are shorter than their launch, and yet the step hangs on the device.

    zh: 多数 kernel 比启动还短，这一步却仍受设备限制。
    """
    rows = [clerk.kernel("short", 1_000, 7_000, 100), clerk.kernel("gemm", 700_000, 7_000)]
    clerk.bound(rows, "device", LOOK_COUNT)


def test_counts_are_weighed(clerk: Any) -> None:
    """A row weighs as often as it says.

    zh: 每一行按它的 count 计算。
    """
    rows = [clerk.kernel("short", 1_000, 7_000, 100), clerk.kernel("long", 90_000, 7_000)]
    clerk.bound(rows, "launch", LOOK_COUNT)


def test_synchronizes_are_neither(clerk: Any) -> None:
    """What synchronizes cost stays, whichever of the two is made free.

    zh: 不论哪一边不花时间，synchronize 的开销都还在。
    """
    sync = clerk.sync(50_000)
    look = ("A synchronize is no launch: its cost is not made free.", "synchronize 不是启动：它的开销仍然要算。")
    clerk.bound([clerk.kernel("k", 9_000, 7_000, 5), sync, clerk.kernel("k", 9_000, 7_000)], "device", look)
    clerk.bound([sync, clerk.kernel("k", 5_000, 7_000, 5), sync], "launch", look)
    clerk.bound([clerk.kernel("k", 7_000, 7_000), sync, clerk.kernel("k", 7_000, 7_000)], "even", look)
    clerk.bound([sync], "even", look)
