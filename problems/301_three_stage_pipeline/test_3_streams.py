"""Order between streams: stage by stage, and with the caller's own stream."""

from __future__ import annotations

from random import Random
from typing import Any

import torch
from support_chunks import MIB, double, draw_chunk, fill_chunks, sleepy, write_down

LONG_CYCLES = 20_000_000
"""Some 10 ms of a GPU."""


def test_each_stage_waits_for_the_one_before(trial: Any, rng: Random) -> None:
    """Compute reads what has arrived, the copy back what has been computed, the caller what has come back.

    zh: compute 读到的是已到达的数据，拷回的是已算完的结果，调用者看到的是已拷回的字节。
    """
    trial.run(fill_chunks(5, 2 * MIB, rng), lambda x: x + 1)


def test_what_the_caller_queued_comes_first(trial: Any, rng: Random, side_stream: Any, watch: Any) -> None:
    """What the caller's stream held at the call is done before any compute, and the host does not wait for it.

    zh: 调用时调用者的流里已有的工作，先于任何一次 compute 完成，而主机并不等它。
    """
    chunks = [draw_chunk(rng, 64, pinned=True) for _ in range(4)]
    with torch.cuda.stream(side_stream):
        weight = torch.zeros(64, device="cuda")
        torch.cuda.synchronize()
        with watch() as seen:
            torch.cuda._sleep(LONG_CYCLES)
            weight.fill_(5)
            results = [result.clone() for result in trial.open(chunks, lambda x: x * weight, 3, chunks)]
    check_weighted(trial, seen, results, chunks)


def test_the_stream_of_the_call_counts(trial: Any, rng: Random, side_stream: Any, watch: Any) -> None:
    """The stream that is current at the call counts, not the one at the first result.

    zh: 起作用的是调用时的当前流，不是取第一个结果时的当前流。
    """
    chunks = [draw_chunk(rng, 64, pinned=True) for _ in range(4)]
    with torch.cuda.stream(side_stream):
        weight = torch.zeros(64, device="cuda")
    torch.cuda.synchronize()
    with watch() as seen:
        with torch.cuda.stream(side_stream):
            torch.cuda._sleep(LONG_CYCLES)
            weight.fill_(5)
            handed_out = trial.open(chunks, lambda x: x * weight, 3, chunks)
        results = [result.clone() for result in handed_out]
    look = (
        "When does the body of a generator run: when it is called, or at the first next()? By then the default stream "
        "is current again.",
        "生成器的函数体何时执行：调用时，还是第一次 next()？到那时当前流已经换回默认流了。",
    )
    check_weighted(trial, seen, results, chunks, look)


def check_weighted(trial: Any, seen: Any, results: list[Any], chunks: list[Any], look: Any = None) -> None:
    """Fail unless compute saw the weight that the caller's stream had been given before the call."""
    __tracebackhide__ = True
    look = look or (
        "Which stream is current when run_pipeline() is called, and what makes compute's stream wait for it? The body "
        "of a generator begins only at the first next().",
        "调用 run_pipeline() 时当前流是哪个，是什么让 compute 的流等它？生成器的函数体要到第一次 next() 才开始执行。",
    )
    what = (
        "compute ran before the work that the caller's stream held at the call",
        "compute 抢在了调用时调用者的流里已有的工作之前",
    )
    trial.expect.ordered(seen, what, look)
    what = ("compute saw an old weight", "compute 看到的是旧的 weight")
    trial.expect.equal([write_down(r) for r in results], [write_down(chunk * 5) for chunk in chunks], what, look)
    trial.expect.waits(
        seen,
        most=len(chunks),
        what=("The host waited for the caller's stream", "主机等了调用者的流"),
        look=(
            "A stream can wait for an event of another one, and the host goes on.",
            "流可以等另一个流的事件，主机照常往下走。",
        ),
    )
    trial.record(results)


def test_the_callers_later_work_runs_beside(trial: Any, rng: Random) -> None:
    """What the caller queues on its stream after the call delays no result.

    zh: 调用之后，调用者在自己的流里排入的工作不会拖慢任何一个结果。
    """
    chunks = fill_chunks(6, 256 << 10, rng)
    for _ in range(2):  # the first turn sets streams and memory up
        handed_out = trial.open(chunks, sleepy(double), 2, chunks)
        torch.cuda._sleep(LONG_CYCLES * 20)
        busy = torch.cuda.current_stream().record_event()
        results = [result.clone() for result in handed_out]
        is_busy = not busy.query()
        torch.cuda.synchronize()
    trial.check_values(results, chunks, double)
    trial.expect.true(
        is_busy,
        (
            "The pipeline waited for work that the caller had queued after the call",
            "流水线等了调用者在调用之后才排入的工作",
        ),
        (
            "Does a stage run on the caller's stream (the default stream, mostly)? Or does a stream wait for it again "
            "and again, and not once, for what it held at the call?",
            "是否有一级跑在调用者的流（通常是默认流）上？还是某个流反复地等它，而不是只等调用那一刻已有的工作？",
        ),
        expected="the caller's stream is still busy at the last result",
        actual="it had to end first",
    )
    trial.record(results)


def test_two_pipelines_take_turns(new_trial: Any, rng: Random, watch: Any) -> None:
    """Two runs, whose results are taken in turn, don't disturb each other.

    zh: 两次运行的结果交替取出，互不干扰。
    """
    first, second = new_trial(), new_trial()
    ones, others = fill_chunks(5, MIB // 4, rng), fill_chunks(5, MIB // 4, rng)
    with watch() as seen:
        pairs = [
            (one.clone(), other.clone())
            for one, other in zip(
                first.open(ones, sleepy(double), 2, ones),
                second.open(others, sleepy(lambda x: x + 1), 3, others),
                strict=True,
            )
        ]
    first.check_races(seen)
    first.check_values([one for one, _ in pairs], ones, double)
    second.check_values([other for _, other in pairs], others, lambda x: x + 1)
    first.record([tensor for pair in pairs for tensor in pair])
