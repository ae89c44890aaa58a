"""The ledger: makespan, busy time, and whose the idle time is."""

from __future__ import annotations

from typing import Any


def test_the_decode_step_of_the_incident(clerk: Any) -> None:
    """1,440 kernels of 1.2 µs with a launch of 7 µs are 1.7 ms of work in 10 ms.

    zh: 1,440 个 1.2 µs 的 kernel，每次启动 7 µs：10 ms 里只有 1.7 ms 的工作。
    """
    clerk.settle([clerk.kernel("k", 1_200, 7_000, 1_440)], (10_081_200, 1_728_000, 8_353_200, 0))


def test_the_first_launch_is_idle_time(clerk: Any) -> None:
    """The time before the first kernel belongs to the step, and to the launches.

    zh: 第一个 kernel 之前的时间也算在这一步里，算作等待启动。
    """
    look = ("The makespan begins at 0, with the host's first move.", "总时长从 0 算起，即主机的第一个动作。")
    clerk.settle([clerk.kernel("a", 30_000, 5_000), clerk.kernel("b", 30_000, 5_000)], (65_000, 60_000, 5_000, 0), look)


def test_neither_sum_nor_maximum_is_the_makespan(clerk: Any) -> None:
    """Host and device overlap, though not wholly: where the long kernel stands makes the difference.

    zh: 主机和设备会重叠，但并不完全；长 kernel 放在哪里，结果不同。
    """
    long, short = clerk.kernel("long", 20_000, 5_000), clerk.kernel("short", 1_000, 5_000, 3)
    look = (
        "Host and device don't take turns, and the slower one doesn't decide alone: follow the schedule.",
        "主机和设备不是轮流干活，也不是由较慢的一方单独决定：按时间表来算。",
    )
    clerk.settle([long, short], (28_000, 23_000, 5_000, 0), look)
    clerk.settle([short, long], (40_000, 23_000, 17_000, 0), look)


def test_an_empty_step_costs_nothing(clerk: Any) -> None:
    """Without rows all is 0.

    zh: 没有行，全部为 0。
    """
    clerk.settle([], (0, 0, 0, 0))
    clerk.settle([clerk.kernel("a", 5_000, 5_000, 0)], (0, 0, 0, 0))


def test_idle_time_behind_a_wait_is_the_synchronizes(clerk: Any) -> None:
    """If the host waited for the device, all that the device then lacks is the synchronize's: call and next launch.

    zh: 主机等过设备之后，设备缺活干的整段时间（调用开销和下一次启动）都算 synchronize 的。
    """
    rows = [clerk.kernel("a", 20_000, 5_000), clerk.sync(2_000), clerk.kernel("b", 1_000, 4_000)]
    clerk.settle(rows, (32_000, 21_000, 5_000, 6_000))


def test_a_short_wait_empties_the_queue_too(clerk: Any) -> None:
    """However little there was to wait for: behind a synchronize the device has nothing queued.

    zh: 不论等得多短：synchronize 之后，设备的队列总是空的。
    """
    look = (
        "Between two kernels, all idle time with a synchronize in it is the synchronize's.",
        "两个 kernel 之间，只要有 synchronize，整段空闲都算它的。",
    )
    rows = [clerk.kernel("a", 0, 9_000), clerk.sync(0), clerk.kernel("b", 1_000, 4_000)]
    clerk.settle(rows, (14_000, 1_000, 9_000, 4_000), look)
    rows = [clerk.kernel("a", 1_000, 9_000), clerk.sync(2_000), clerk.sync(3_000), clerk.kernel("b", 1_000, 4_000)]
    clerk.settle(rows, (20_000, 2_000, 9_000, 9_000), look)


def test_each_gap_is_judged_by_itself(clerk: Any) -> None:
    """A synchronize is to blame for the next gap only, not for those behind later kernels.

    zh: 一次 synchronize 只对紧接着的空隙负责，不管后面 kernel 的空隙。
    """
    rows = [
        clerk.kernel("a", 9_000, 5_000),
        clerk.sync(1_000),
        clerk.kernel("b", 1_000, 4_000, 3),
        clerk.sync(1_000),
        clerk.kernel("c", 1_000, 4_000),
    ]
    look = (
        "A kernel behind the synchronize ends what it can be blamed for.",
        "synchronize 之后有了 kernel，责任就到此为止。",
    )
    clerk.settle(rows, (34_000, 13_000, 11_000, 10_000), look)


def test_the_ends_of_a_step_count(clerk: Any) -> None:
    """A synchronize before the first kernel, and one behind the last, leave the device idle.

    zh: 第一个 kernel 之前、最后一个之后的 synchronize 也让设备空闲。
    """
    rows = [clerk.sync(2_000), clerk.kernel("a", 9_000, 5_000), clerk.sync(3_000)]
    clerk.settle(rows, (19_000, 9_000, 0, 10_000))
    clerk.settle([clerk.sync(2_000)], (2_000, 0, 0, 2_000))
