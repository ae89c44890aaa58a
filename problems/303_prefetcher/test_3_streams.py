"""Order between the copies and the consumer: one stream or several, batches dropped at once, kept, or written."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch
from support_batches import MIB, double, fill_batches
from torch import Tensor


def write_into(x: Tensor) -> Tensor:
    """Change a batch, and return a part of it."""
    return x.add_(1)[:8] * 2


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "pageable"])
def test_a_batch_has_arrived_when_it_is_used(consumer: Any, rng: Random, pinned: bool) -> None:
    """The consumer's kernels see the whole batch, however large it is.

    zh: 不论 batch 多大，消费者的 kernel 看到的都是完整的数据。
    """
    consumer.train(fill_batches(3, 2 * MIB, rng, pinned=pinned), cycles=0)


def test_a_batch_may_be_dropped_while_it_is_used(consumer: Any, rng: Random) -> None:
    """A batch that is dropped at once keeps its memory until the consumer's kernels are over.

    zh: batch 马上被丢弃，它的内存也要留到消费者的 kernel 全部结束。
    """
    consumer.train(fill_batches(8, MIB // 4, rng))


def test_a_batch_may_be_written(consumer: Any, rng: Random) -> None:
    """The consumer may write into a batch; the host's stays as it is.

    zh: 消费者可以改写 batch，主机上的那份不变。
    """
    consumer.train(fill_batches(6, MIB // 4, rng), step=write_into)


@pytest.mark.parametrize("streams", ["one", "two"])
def test_a_batch_may_be_kept(consumer: Any, rng: Random, side_streams: list[Any], streams: str) -> None:
    """A batch that is kept for three steps is unchanged, and may be used and dropped then.

    zh: 留了三步的 batch 内容不变，到那时仍可使用，再丢弃。
    """
    consumer.train(fill_batches(7, MIB // 4, rng), keep=3, streams=side_streams if streams == "two" else None)


def test_the_consumer_may_change_its_stream(consumer: Any, rng: Random, side_streams: list[Any]) -> None:
    """The stream that is current at the next() may use the batch; it may be another one each time.

    zh: 哪个流在 next() 时是当前流，就由哪个流使用这个 batch；每次都可以不同。
    """
    consumer.train(fill_batches(8, MIB // 4, rng), streams=[*side_streams, torch.cuda.current_stream()])


def test_memory_of_the_consumer_is_not_overwritten(consumer: Any, rng: Random, side_streams: list[Any]) -> None:
    """Memory that the consumer has dropped, and whose kernels still run, is not written by a copy.

    zh: 消费者已经丢弃、但 kernel 还在用的内存，不会被拷贝写入。
    """
    batches = fill_batches(5, MIB // 4, rng)
    with torch.cuda.stream(side_streams[0]):
        own = [torch.full((MIB // 16,), float(number), device="cuda") for number in range(6)]
        torch.cuda.synchronize()
        with consumer.watch() as seen:
            torch.cuda._sleep(20_000_000)
            sums = [double(tensor) for tensor in own]
            del own
            results = [double(batch) for batch in consumer.open(iter(batches), batches)]
    consumer.check_races(seen)
    consumer.check_values(results, batches, double)
    what = ("A tensor of the consumer was overwritten", "消费者的张量被覆盖了")
    consumer.expect.equal([float(tensor[0]) for tensor in sums], [2.0 * number for number in range(6)], what)
    consumer.record(results)
