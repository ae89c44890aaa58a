"""The schedule: two clocks, and what a synchronize does to them."""

from __future__ import annotations

from typing import Any


def test_the_first_kernel_waits_for_its_launch(clerk: Any) -> None:
    """No kernel starts before it has been launched, the first one included.

    zh: 任何 kernel 都要等启动完成才开始，第一个也不例外。
    """
    rows = [clerk.kernel("gemm", 9_000, 5_000)]
    look = ("At 0 nothing has been launched yet.", "0 时刻还什么都没有启动。")
    clerk.schedule(rows, [("gemm", 5_000, 5_000, 14_000)], look)


def test_a_device_that_is_faster_waits_for_the_host(clerk: Any) -> None:
    """Kernels shorter than their launches start when they are launched.

    zh: kernel 比启动还短时，一启动就开始。
    """
    rows = [clerk.kernel("a", 1_000, 7_000), clerk.kernel("b", 2_000, 6_000), clerk.kernel("c", 1_500, 8_000)]
    wanted = [("a", 7_000, 7_000, 8_000), ("b", 13_000, 13_000, 15_000), ("c", 21_000, 21_000, 22_500)]
    clerk.schedule(rows, wanted)


def test_a_host_that_is_faster_runs_ahead(clerk: Any) -> None:
    """Kernels longer than their launches follow one another without a gap.

    zh: kernel 比启动长时，一个紧接一个。
    """
    rows = [clerk.kernel("a", 20_000, 7_000), clerk.kernel("b", 30_000, 6_000), clerk.kernel("c", 9_000, 8_000)]
    wanted = [("a", 7_000, 7_000, 27_000), ("b", 13_000, 27_000, 57_000), ("c", 21_000, 57_000, 66_000)]
    look = ("The host does not wait for a kernel that it has launched.", "主机启动之后，并不等那个 kernel。")
    clerk.schedule(rows, wanted, look)


def test_a_long_kernel_hides_the_launches_behind_it(clerk: Any) -> None:
    """What is launched under a long kernel is ready when it ends; then the host is behind again.

    zh: 长 kernel 期间启动的工作，等它结束时都已就绪；之后主机又落后了。
    """
    rows = [clerk.kernel("gemm", 20_000, 5_000), clerk.kernel("add", 1_000, 5_000, 6)]
    starts = [25_000, 26_000, 27_000, 28_000, 30_000, 35_000]
    adds = [("add", 10_000 + 5_000 * at, start, start + 1_000) for at, start in enumerate(starts)]
    clerk.schedule(rows, [("gemm", 5_000, 5_000, 25_000), *adds])


def test_each_launch_has_its_own_cost(clerk: Any) -> None:
    """The same launches in another order give another schedule: a mean is not enough.

    zh: 同样的启动换个次序，结果就不同：只用平均值不够。
    """
    cheap, dear = clerk.kernel("cheap", 4_000, 1_000), clerk.kernel("dear", 4_000, 9_000)
    look = ("Take the cost of this launch, not the mean of all.", "用这一次启动的开销，不要用平均值。")
    clerk.schedule([cheap, dear], [("cheap", 1_000, 1_000, 5_000), ("dear", 10_000, 10_000, 14_000)], look)
    clerk.schedule([dear, cheap], [("dear", 9_000, 9_000, 13_000), ("cheap", 10_000, 13_000, 17_000)], look)


def test_a_row_stands_for_as_many_as_it_says(clerk: Any) -> None:
    """A row of count 3 is three kernels, and one of count 0 is none.

    zh: count 为 3 的行是三个 kernel，为 0 的行一个也没有。
    """
    rows = [clerk.kernel("a", 2_000, 3_000, 3), clerk.kernel("b", 9_000, 9_000, 0), clerk.sync(9_000, count=0)]
    wanted = [("a", 3_000, 3_000, 5_000), ("a", 6_000, 6_000, 8_000), ("a", 9_000, 9_000, 11_000)]
    clerk.schedule(rows, wanted)
    clerk.schedule([], [])


def test_a_synchronize_lets_the_host_wait_for_all_kernels(clerk: Any) -> None:
    """Behind a synchronize the host begins when the device is through, plus the cost of the call.

    zh: synchronize 之后，主机要等设备全部做完，再加上调用的开销，才能继续。
    """
    rows = [
        clerk.kernel("a", 20_000, 5_000),
        clerk.kernel("b", 10_000, 5_000),
        clerk.sync(2_000),
        clerk.kernel("c", 1_000, 4_000),
    ]
    wanted = [("a", 5_000, 5_000, 25_000), ("b", 10_000, 25_000, 35_000), ("c", 41_000, 41_000, 42_000)]
    look = (
        "First the wait, until the last kernel has ended; then the call's own time; then the next launch.",
        "先等到最后一个 kernel 结束，再加调用本身的时间，然后才是下一次启动。",
    )
    clerk.schedule(rows, wanted, look)


def test_a_synchronize_on_a_dry_device_costs_its_call(clerk: Any) -> None:
    """Where the device is through already, a synchronize costs the host its call and nothing else.

    zh: 设备早已做完时，synchronize 只花主机调用本身的时间。
    """
    late = clerk.kernel("late", 0, 6_000)
    rows = [clerk.kernel("a", 1_000, 5_000), late, clerk.sync(2_000, count=2), clerk.kernel("b", 1_000, 4_000)]
    wanted = [("a", 5_000, 5_000, 6_000), ("late", 11_000, 11_000, 11_000), ("b", 19_000, 19_000, 20_000)]
    clerk.schedule(rows, wanted)


def test_launches_that_cost_nothing_are_launched_at_once(clerk: Any) -> None:
    """Kernels of a replay, whose launches cost 0, are all launched together.

    zh: 回放里的 kernel 启动开销为 0，全部同时启动。
    """
    rows = [clerk.kernel("a", 1_000, 6_000), clerk.kernel("b", 1_000, 0, 2)]
    wanted = [("a", 6_000, 6_000, 7_000), ("b", 6_000, 7_000, 8_000), ("b", 6_000, 8_000, 9_000)]
    clerk.schedule(rows, wanted)
