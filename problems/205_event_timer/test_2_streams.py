"""What else is queued: before the call, on the caller's stream, on others, and by reset()."""

from __future__ import annotations

from typing import Any

import torch


def test_queued_work_does_not_count(bench: Any) -> None:
    """The device is busy with earlier work when measuring begins.

    zh: 开始测量时，设备还忙着先前的工作。
    """
    bench.work(20)
    bench.check(bench.measure(lambda: bench.work(2), warmup=0, repetitions=3), [2] * 3)


def test_the_callers_stream_counts(bench: Any, side_streams: list[Any]) -> None:
    """Another stream than the default one is current.

    zh: 当前流不是默认流。
    """
    with torch.cuda.stream(side_streams[0]):
        timing = bench.measure(lambda: bench.work(2), warmup=1, repetitions=3)
    look = (
        "The call's work is on the stream that is current, which is not always the default stream. On which stream do "
        "the events stand?",
        "调用的工作在当前流上，当前流不一定是默认流。事件在哪个流上？",
    )
    bench.check(timing, [2] * 3, look)


def test_reset_does_not_count(bench: Any, expect: Any) -> None:
    """reset() is called before each call, and its work is not in the samples.

    zh: 每次调用之前都调用 reset()，它的工作不进入样本。
    """
    calls: list[str] = []

    def call() -> None:
        calls.append("call")
        bench.work(1)

    def reset() -> None:
        calls.append("reset")
        bench.work(4)

    timing = bench.measure(call, warmup=2, repetitions=3, reset=reset)
    what = ("The order in which reset() and call() were called", "reset() 和 call() 的调用次序不对")
    expect.equal(calls, ["reset", "call"] * 5, what)
    look = (
        "reset() brings inputs back and empties caches. Its work belongs before the start of the repetition.",
        "reset() 还原输入、清空缓存。它的工作应在这次重复的开始之前。",
    )
    bench.check(timing, [1] * 3, look)


def test_work_on_another_stream_counts(bench: Any, side_streams: list[Any]) -> None:
    """The call works on a stream that is given, and does not join it.

    zh: 调用在给出的另一个流上工作，而且没有汇合。
    """
    side = side_streams[0]
    timing = bench.measure(lambda: bench.work(3, side), streams=[side], repetitions=4)
    look = (
        "The work is on a stream that is given in streams. What makes the event at the end come behind it?",
        "工作在 streams 给出的流上。靠什么让末尾的事件排在它之后？",
    )
    bench.check(timing, [3] * 4, look)


def test_the_last_of_several_streams_counts(bench: Any, side_streams: list[Any], expect: Any) -> None:
    """Two given streams and the current one work: a repetition ends with the last of them.

    zh: 给出的两个流和当前流都在工作：最后一个做完，这次重复才结束。
    """

    def call() -> None:
        bench.work(1)
        bench.work(4, side_streams[0])
        bench.work(2, side_streams[1])

    timing = bench.measure(call, streams=side_streams, repetitions=3)
    units = [sample_us / bench.unit_us for sample_us in timing.samples_us]
    what = ("Of three streams at work, not all are in the samples", "三个流都在工作，样本却没有全部计入")
    look = ("Does the end come behind every stream that is given?", "末尾排在给出的每一个流之后了吗？")
    told = "/".join(f"{length:.1f}" for length in units)
    # Side by side it takes 4 units; a device may also run streams one after the other.
    expect.true(all(3.5 < length < 7.8 for length in units), what, look, expected="4 to 7 units", actual=told)
    bench.evidence.exact("samples", len(units))


def test_another_stream_begins_behind_the_start(bench: Any, side_streams: list[Any]) -> None:
    """reset() works on the current stream; the other stream's work doesn't begin beside it, unseen.

    zh: reset() 在当前流上工作；另一个流的工作不能趁这时偷偷开始。
    """
    side = side_streams[0]
    timing = bench.measure(lambda: bench.work(3, side), streams=[side], repetitions=4, reset=lambda: bench.work(6))
    look = (
        "The other stream knows nothing of the event at the start: it begins when it is free. What makes it wait?",
        "另一个流不知道开始处的事件：它一空就开始了。靠什么让它等？",
    )
    bench.check(timing, [3] * 4, look)


def test_earlier_work_on_another_stream_does_not_count(bench: Any, side_streams: list[Any]) -> None:
    """The given stream is busy with earlier work when measuring begins, or with what reset() gives it.

    zh: 开始测量时，给出的流还忙着先前的工作，或 reset() 排给它的工作。
    """
    side = side_streams[0]
    bench.work(12, side)
    timing = bench.measure(
        lambda: bench.work(2, side), warmup=0, streams=[side], repetitions=3, reset=lambda: bench.work(4, side)
    )
    look = (
        "What the other stream holds already lies behind the start. Let the start come behind it.",
        "另一个流里已有的工作落在了开始之后。让开始排到它后面。",
    )
    bench.check(timing, [2] * 3, look)


def test_reset_and_call_are_in_order(bench: Any, watch: Any, expect: Any, device: str, side_streams: list[Any]) -> None:
    """reset() writes what the call reads on another stream: the two are in order without a word from either.

    zh: reset() 写、call 在另一个流上读同一个张量：两边什么都不用做，先后就已成立。
    """
    side = side_streams[0]
    source = torch.zeros(1 << 12, device=device)
    target = torch.zeros(1 << 12, device=device)
    torch.cuda.synchronize()

    def call() -> None:
        with torch.cuda.stream(side):
            target.add_(source)

    with watch() as seen:
        timing = bench.measure(call, streams=[side], warmup=2, repetitions=4, reset=lambda: source.fill_(1))
    what = ("reset() and a call on another stream have no order", "reset() 与另一个流上的调用没有先后")
    look = (
        "Between repetitions, the current stream and those given have to wait for each other, in both directions.",
        "两次重复之间，当前流和给出的流要互相等待，两个方向都要。",
    )
    expect.ordered(seen, what, look)
    bench.evidence.exact("target", float(target.sum()))
    bench.evidence.exact("samples", len(timing.samples_us))
