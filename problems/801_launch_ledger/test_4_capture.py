"""Capture: one replay a run of kernels, and no graph across a synchronize."""

from __future__ import annotations

from typing import Any


def test_a_run_of_kernels_costs_one_replay(clerk: Any) -> None:
    """The first kernel of a graph costs the replay, and the others nothing.

    zh: graph 里第一个 kernel 花一次回放的开销，其余为 0。
    """
    rows = [clerk.kernel("a", 1_200, 7_000, 3), clerk.kernel("b", 2_000, 6_000)]
    wanted = [clerk.kernel("a", 1_200, 10_000), clerk.kernel("a", 1_200, 0, 2), clerk.kernel("b", 2_000, 0)]
    clerk.capture(rows, 10_000, wanted)


def test_a_graph_ends_at_a_synchronize(clerk: Any) -> None:
    """What stands behind a synchronize is another graph with a replay of its own; the synchronize stays.

    zh: synchronize 之后是另一个 graph，另有一次回放；synchronize 本身不变。
    """
    rows = [clerk.kernel("a", 1_000, 7_000, 2), clerk.sync(2_000), clerk.kernel("b", 1_000, 7_000, 2)]
    first, rest = clerk.kernel("a", 1_000, 9_000), clerk.kernel("a", 1_000, 0)
    wanted = [first, rest, clerk.sync(2_000), clerk.kernel("b", 1_000, 9_000), clerk.kernel("b", 1_000, 0)]
    look = ("A capture that meets a synchronize is an error on a GPU.", "在 GPU 上，捕获中遇到 synchronize 会出错。")
    clerk.capture(rows, 9_000, wanted, look)


def test_no_replay_without_a_kernel(clerk: Any) -> None:
    """Between two synchronizes without kernels, and for rows of count 0, nothing is replayed.

    zh: 两个 synchronize 之间没有 kernel，或者 count 为 0，就没有回放。
    """
    nothing = clerk.kernel("none", 5_000, 7_000, 0)
    rows = [clerk.sync(1_000), nothing, clerk.sync(2_000, count=2), nothing, clerk.kernel("a", 1_000, 7_000)]
    wanted = [clerk.sync(1_000), clerk.sync(2_000, count=2), clerk.kernel("a", 1_000, 9_000)]
    clerk.capture(rows, 9_000, wanted)
    clerk.capture([], 9_000, [])


def test_a_replay_turns_the_decode_step(clerk: Any) -> None:
    """The step of the incident takes 1.74 ms as a graph, and hangs on the device.

    zh: 事故里的那一步变成 graph 之后只要 1.74 ms，受设备限制。
    """
    captured = clerk.capture([clerk.kernel("k", 1_200, 7_000, 1_440)], 10_000)
    clerk.settle(captured, (1_738_000, 1_728_000, 10_000, 0))
    clerk.bound(captured, "device")


def test_a_replay_hardly_helps_a_prefill(clerk: Any) -> None:
    """Of a step that hangs on the device a graph saves no more than the launches that the device waited for.

    zh: 受设备限制的步，graph 能省的不过是设备等过的那点启动。
    """
    rows = [clerk.kernel("k", 90_000, 7_000, 240)]
    clerk.settle(rows, (21_607_000, 21_600_000, 7_000, 0))
    clerk.settle(clerk.capture(rows, 10_000), (21_610_000, 21_600_000, 10_000, 0))


def test_a_synchronize_in_each_layer_eats_the_gain(clerk: Any) -> None:
    """With a synchronize behind each third kernel there are 480 replays, and most of the gain is gone.

    zh: 每三个 kernel 之后一次 synchronize，就是 480 次回放，好处所剩无几。
    """
    rows = [clerk.kernel("k", 1_200, 7_000, 3), clerk.sync(3_000)] * 480
    clerk.settle(rows, (480 * 25_200, 1_728_000, 7_000 + 480 * 11_600, 479 * 10_000 + 3_000))
    clerk.settle(clerk.capture(rows, 10_000), (480 * 16_600, 1_728_000, 10_000, 479 * 13_000 + 3_000))
