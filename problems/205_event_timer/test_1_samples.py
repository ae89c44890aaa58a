"""Work of a known length: what each repetition took, and what is said of all of them."""

from __future__ import annotations

import statistics
from random import Random
from typing import Any

import pytest


@pytest.mark.parametrize("units", [1, 4], ids=str)
def test_work_of_a_known_length(bench: Any, expect: Any, units: int) -> None:
    """A call that keeps the device busy for a known time is told to take that time.

    zh: 一次调用让设备忙多久是已知的，计时器说的也是这么久。
    """
    calls: list[int] = []
    timing = bench.measure(lambda: (calls.append(1), bench.work(units)))
    bench.check(timing, [units] * 11)
    what = ("By default, call() is called 3 + 11 times", "默认调用 call() 3 + 11 次")
    expect.equal(len(calls), 14, what)


def test_each_repetition_has_its_own_sample(bench: Any, rng: Random) -> None:
    """Repetitions of different lengths: the samples come in their order, behind the warm-up.

    zh: 各次重复长短不一：样本按次序对应，且不含预热。
    """
    units = [rng.randrange(1, 7) for _ in range(8)]
    rest = iter([9, 9, *units])
    timing = bench.measure(lambda: bench.work(next(rest, 9)), warmup=2, repetitions=8)
    look = (
        "The two calls of the warm-up take 9 units each. Are they among the samples? And has each repetition events of "
        "its own?",
        "预热的两次调用各用 9 个单位。它们混进样本了吗？每次重复有自己的事件吗？",
    )
    bench.check(timing, units, look)


def test_the_first_calls_are_slow(bench: Any, expect: Any) -> None:
    """The first calls load and tune, and take ten times as long: the warm-up keeps them out.

    zh: 最初几次调用要加载、要调优，慢十倍：预热把它们排除在外。
    """
    made = 0

    def call() -> None:
        nonlocal made
        made += 1
        bench.work(10 if made <= 4 else 1)

    timing = bench.measure(call, warmup=4, repetitions=5)
    what = (
        "call() was called more or less often than warmup + repetitions",
        "call() 的调用次数不是 warmup + repetitions",
    )
    expect.equal(made, 9, what)
    look = (
        "The first calls of the warm-up are among the samples: are there as many before the first event as asked?",
        "预热时的调用混进了样本：第一个事件之前的调用，够要求的次数吗？",
    )
    bench.check(timing, [1] * 5, look)


def test_no_warmup_if_none_is_asked_for(bench: Any) -> None:
    """With warmup=0 the first call is the first sample.

    zh: warmup=0 时，第一次调用就是第一个样本。
    """
    units = iter([6, 1, 2])
    timing = bench.measure(lambda: bench.work(next(units)), warmup=0, repetitions=3)
    bench.check(timing, [6, 1, 2])


@pytest.mark.parametrize("lengths", [[1, 1, 8, 1, 6], [1, 3, 6, 1], [2]], ids=["odd", "even", "one"])
def test_the_median_is_that_of_the_samples(bench: Any, expect: Any, lengths: list[int]) -> None:
    """Some repetitions are disturbed: the median is the value in the middle, or the mean of two.

    zh: 有几次重复受了干扰：中位数取中间的值，或中间两个的平均。
    """
    rest = iter(lengths)
    timing = bench.measure(lambda: bench.work(next(rest)), warmup=0, repetitions=len(lengths))
    bench.check(timing, lengths)
    wanted = statistics.median(timing.samples_us)
    mean = statistics.fmean(timing.samples_us)
    is_mean = abs(timing.median_us - mean) < 1e-6 * mean
    what = (
        ("median_us is the mean", "median_us 是平均数")
        if is_mean
        else ("median_us is not the median of samples_us", "median_us 不是 samples_us 的中位数")
    )
    look = (
        (
            "In one repetition another process took the device, and the mean tells of that one.",
            "有一次重复被别的进程抢了设备，平均数说的就是那一次。",
        )
        if is_mean
        else (
            "Sorted, the one in the middle; of an even number, the mean of the two in the middle.",
            "排序后取中间那个；偶数个时取中间两个的平均。",
        )
    )
    is_right = abs(timing.median_us - wanted) <= 1e-6 * wanted
    expect.true(is_right, what, look, expected=f"{wanted:.1f} us", actual=f"{timing.median_us:.1f} us")
    bench.evidence.exact("median", round(2 * timing.median_us / bench.unit_us))


@pytest.mark.parametrize("options", [{"repetitions": 0}, {"warmup": -1}], ids=str)
def test_numbers_out_of_range(bench: Any, expect: Any, options: dict[str, int]) -> None:
    """No repetition, or a negative warm-up, is a ValueError, before anything is called.

    zh: 重复次数不到 1、预热为负，抛 ValueError，此前不作任何调用。
    """
    calls: list[int] = []
    what = (f"measure() accepted {options}", f"measure() 接受了 {options}")
    expect.raises(ValueError, lambda: bench.solution.measure(lambda: calls.append(1), **options), what)
    expect.equal(calls, [], ("call() was called all the same", "却还是调用了 call()"))
    bench.check(bench.measure(lambda: bench.work(1), repetitions=1, warmup=0), [1])
