"""The source: when a batch is taken from it, when its memory is free, and what it raises."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import torch
from support_batches import MIB, Batch, double, draw_tensor, fill_batches, map_batch


class Breakdown(Exception):
    """What the source raises."""


def test_one_batch_is_ahead(consumer: Any, rng: Random) -> None:
    """Batch i + 1 is taken in the next() that hands out batch i: not later, and none beyond it.

    zh: 第 i + 1 个 batch 在交出第 i 个的那次 next() 里取：不更晚，也不多取。
    """
    count = 6
    consumer.train([draw_tensor(rng, 50) for _ in range(count)])
    taken = 0
    for at, step in enumerate(consumer.steps):
        if step.startswith("take"):
            taken += 1
            continue
        number = int(step.split()[1])
        wanted = min(number + 2, count)
        picture = " ".join(consumer.steps[: at + 1])
        if taken > wanted:
            consumer.expect.fail(
                ("Batches are taken too far ahead", "取得太早了"),
                wanted,
                taken,
                (
                    "All that is taken lies in memory: one batch ahead is enough to keep the copy stream busy.",
                    "取出来的都占着内存：只提前一个，就足够让拷贝流忙着。",
                ),
                picture,
            )
        consumer.expect.equal(
            taken,
            wanted,
            (
                f"Batch {number} was handed out, and the next one had not been taken",
                f"第 {number} 个已经交出，下一个却还没有取",
            ),
            (
                "A copy that begins only when its batch is asked for has no step left beside which it could run.",
                "等到有人要了才开始拷贝，就没有哪一步可以与它同时进行了。",
            ),
            picture,
        )


def test_a_source_may_refill_two_buffers(consumer: Any, rng: Random) -> None:
    """A source with two pinned buffers, filled in turn, is a proper source.

    zh: 只有两个锁页缓冲区、轮流填充的数据源，也是合法的数据源。
    """
    batches = fill_batches(7, MIB // 4, rng, pinned=False)
    buffers = fill_batches(2, MIB // 4, rng)

    def refill() -> Iterator[Batch]:
        for number, batch in enumerate(batches):
            yield buffers[number % 2].copy_(batch)

    consumer.train(batches, refill())


def test_the_source_runs_on_the_consumers_stream(consumer: Any, rng: Random, side_streams: list[Any]) -> None:
    """The source's code runs with the consumer's stream current.

    zh: 数据源的代码运行时，当前流是消费者的流。
    """
    batches = [draw_tensor(rng, 20) for _ in range(4)]
    with torch.cuda.stream(side_streams[0]):
        consumer.train(batches, iter(batches))


@pytest.mark.parametrize("at", [0, 1, 3])
def test_an_exception_of_the_source_comes_at_its_place(consumer: Any, rng: Random, watch: Any, at: int) -> None:
    """What the source raises in place of batch i reaches the consumer as it is, behind batch i - 1.

    zh: 数据源在第 i 个 batch 的位置抛出的异常，在第 i - 1 个 batch 之后原样到达消费者。
    """
    batches = fill_batches(at, MIB // 4, rng)
    before = [map_batch(batch, torch.clone) for batch in batches]
    stream = torch.cuda.current_stream()
    results: list[Batch] = []

    def read() -> Iterator[Batch]:
        yield from batches
        raise Breakdown(f"batch {at}")

    received = consumer.open(read(), before)
    with watch() as seen:
        raised = consumer.expect.raises(
            Breakdown,
            lambda: results.extend(map_batch(batch, double) for batch in received),
            ("An exception of the source must reach the consumer", "数据源的异常应当到达消费者"),
            ("Pass it on as it is.", "原样抛出即可。"),
        )
    consumer.slips.check_stream(stream, torch.cuda.current_stream(), ("the exception", "抛出异常"))
    consumer.expect.equal(
        len(results),
        at,
        (f"The source broke at batch {at}, and batches before it were lost", f"数据源在第 {at} 个出错，之前的也丢了"),
        (
            "Batch i + 1 is taken before batch i has been handed out: what it raises has to wait until batch i is "
            "through the door.",
            "取第 i + 1 个时，第 i 个还没有交出：这时抛出的异常，要先留着，等第 i 个交出之后再抛。",
        ),
    )
    consumer.check_races(seen)
    consumer.check_values(results, before, double)
    consumer.evidence.exact("raised", [type(raised).__name__, str(raised), len(results)])
    consumer.evidence.exact("over", next(received, None) is None)
