"""Fusion: kernels that follow one another become one."""

from __future__ import annotations

from typing import Any


def test_kernels_that_follow_one_another_become_one(clerk: Any) -> None:
    """Everywhere, the names become one kernel with the launch of the first and the time that is given.

    zh: 每一处都变成一个 kernel：启动开销取第一个的，时长用给定的。
    """
    layer = [clerk.kernel("norm", 3_000, 8_000), clerk.kernel("add", 1_000, 6_000), clerk.kernel("gemm", 9_000, 7_000)]
    wanted = [clerk.kernel("add_norm", 3_200, 8_000), clerk.kernel("gemm", 9_000, 7_000)] * 2
    clerk.fuse(layer * 2, ["norm", "add"], "add_norm", 3_200, wanted)


def test_only_this_order_and_nothing_between(clerk: Any) -> None:
    """Another order, something between, or a part alone stays as it is.

    zh: 次序不同、中间隔着别的，或者只有一部分，都保持原样。
    """
    rows = [clerk.kernel(name, 1_000, 5_000) for name in ("b", "a", "x", "a", "x", "b", "a", "c", "a")]
    clerk.fuse(rows, ["a", "b"], "ab", 1_500, rows)
    clerk.fuse([], ["a", "b"], "ab", 1_500, [])


def test_a_count_is_written_out(clerk: Any) -> None:
    """A row of several kernels fuses with itself and with its neighbours, one by one.

    zh: 含多个 kernel 的行，与自己、与相邻的行逐个融合。
    """
    rows = [clerk.kernel("a", 1_000, 5_000, 3), clerk.kernel("b", 2_000, 6_000, 2)]
    a, b = clerk.kernel("a", 1_000, 5_000), clerk.kernel("b", 2_000, 6_000)
    look = ("A row of count 3 is three kernels that follow one another.", "count 为 3 的行就是接连三个 kernel。")
    clerk.fuse(rows, ["a", "b"], "ab", 2_500, [a, a, clerk.kernel("ab", 2_500, 5_000), b], look)
    clerk.fuse(rows, ["a", "a"], "aa", 1_500, [clerk.kernel("aa", 1_500, 5_000), a, b, b], look)
    clerk.fuse([clerk.kernel("a", 1_000, 5_000, 0), b], ["a", "b"], "ab", 2_500, [b], look)


def test_places_are_taken_from_the_front(clerk: Any) -> None:
    """Places don't overlap: what was fused is not looked at again.

    zh: 从前往后取，互不重叠：融合过的不再参与。
    """
    a = clerk.kernel("a", 1_000, 5_000)
    b = clerk.kernel("b", 1_000, 5_000)
    aba = clerk.kernel("a", 4_000, 5_000)
    look = ("Go on behind the kernels that were fused, not with them.", "从融合过的 kernel 后面继续，不要再用它们。")
    clerk.fuse([a, b, a, b, a, b, a], ["a", "b", "a"], "a", 4_000, [aba, b, aba], look)
    clerk.fuse([a, a, a, a, a], ["a", "a"], "a", 4_000, [aba, aba, a], look)


def test_nothing_is_fused_across_a_synchronize(clerk: Any) -> None:
    """A synchronize between keeps kernels apart, and is itself no kernel, whatever its name.

    zh: 中间有 synchronize 就不能融合；它本身也不是 kernel，不论叫什么。
    """
    a, b, sync = clerk.kernel("a", 1_000, 5_000), clerk.kernel("b", 1_000, 5_000), clerk.sync(2_000, name="b")
    clerk.fuse([a, sync, b, a, b], ["a", "b"], "ab", 1_500, [a, sync, b, clerk.kernel("ab", 1_500, 5_000)])


def test_a_single_name_is_replaced(clerk: Any) -> None:
    """One name alone means another kernel in its place, launched at the same cost.

    zh: 只有一个名字，就是换成另一个 kernel，启动开销不变。
    """
    rows = [clerk.kernel("a", 9_000, 5_000, 2), clerk.kernel("b", 1_000, 4_000)]
    wanted = [clerk.kernel("fast", 3_000, 5_000, 2), clerk.kernel("b", 1_000, 4_000)]
    clerk.fuse(rows, ["a"], "fast", 3_000, wanted)


def test_fusion_pays_by_launches(clerk: Any) -> None:
    """A fused kernel as long as its parts together still saves: the launches, where the step hangs on them.

    zh: 融合后的 kernel 与各部分之和一样长，也照样省：省的是启动，如果这一步受启动限制。
    """
    step = [clerk.kernel("norm", 2_000, 7_000), clerk.kernel("add", 1_000, 7_000)] * 100
    clerk.settle(step, (1_401_000, 300_000, 1_101_000, 0))
    clerk.settle(clerk.fuse(step, ["norm", "add"], "norm_add", 3_000), (703_000, 300_000, 403_000, 0))
