"""How a loop ends before its time, and what is left then."""

from __future__ import annotations

import contextlib
from random import Random
from typing import Any

import pytest
import torch
from support_batches import MIB, SLEEP_CYCLES, double, fill_batches
from torch import Tensor


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "pageable"])
@pytest.mark.parametrize("way", ["break", "close", "exception", "end"])
def test_nothing_is_left(consumer: Any, rng: Random, watch: Any, way: str, pinned: bool) -> None:
    """After the last batch, a break, a close() or an exception of the consumer no copy is queued any more.

    zh: 循环做完、break、close()，或者消费者抛出异常之后，队列里不再有拷贝。
    """
    batches = fill_batches(4, MIB // 2, rng, pinned=pinned)
    stream = torch.cuda.current_stream()
    before = torch.cuda.memory_allocated()
    results: list[Tensor] = []

    def leave() -> None:
        received = iter(consumer.solution.Prefetcher(iter(batches)))
        for batch in received:
            torch.cuda._sleep(SLEEP_CYCLES)
            results.append(double(batch)[:8].clone())
            del batch
            if len(results) == 2 and way != "end":
                if way == "exception":
                    raise KeyError
                break
        if way == "close" and hasattr(received, "close"):
            received.close()

    with watch() as seen:
        with contextlib.suppress(KeyError):
            leave()
        for batch in batches:
            batch.fill_(0)
        consumer.slips.check_stream(stream, torch.cuda.current_stream(), ("the end of the loop", "循环结束"))
    ends = [span.ended_us for span in seen.observation.spans if span.engine == "h2d"]
    consumer.expect.true(
        max(ends) <= seen.observation.stopped_us,
        ("A copy was still queued when the loop had ended", "循环已经结束，队列里却还有拷贝"),
        (
            "The caller may now overwrite its batches. close(), or dropping a generator, raises GeneratorExit at the "
            "yield: which finally waits for the copies?",
            "调用者现在就可以改写那些 batch。close() 或丢弃生成器，会在 yield 处抛出 GeneratorExit："
            "由哪个 finally 来等这些拷贝？",
        ),
        expected="no copy after the end",
        actual=f"a copy for another {max(ends) - seen.observation.stopped_us:.0f} us",
    )
    consumer.check_races(seen)
    consumer.evidence.exact("results", [result.tolist() for result in results])
    results.clear()
    torch.cuda.synchronize()
    left = torch.cuda.memory_allocated() - before
    consumer.expect.true(
        left <= 0,
        ("Device memory is still held after the end", "结束之后仍占着设备内存"),
        ("What outlives the loop and refers to a batch?", "有什么比循环活得更久，还引用着 batch？"),
        expected="0 bytes",
        actual=f"{left} bytes",
    )
