"""How a run ends before its time: by an exception, by close(), by an argument that makes no sense."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import torch
from support_chunks import MIB, double, fill_chunks, sleepy
from torch import Tensor

Pair = tuple[str, str]


class Breakdown(Exception):
    """What compute or the source raises."""


class Breaking:
    """A compute that takes its time, marks the end of its work, and raises at one chunk with that work queued.

    Args:
        at: number of the chunk; ``None`` for none.
    """

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.ends: list[Any] = []

    def __call__(self, x: Tensor) -> Tensor:
        """Return twice ``x``."""
        made = sleepy(double)(x)
        self.ends.append(torch.cuda.current_stream().record_event())
        if len(self.ends) - 1 == self.at:
            raise Breakdown(f"chunk {self.at}")
        return made

    def count_pending(self) -> int:
        """Return how many calls' work has not ended. *Synchronises: no.*"""
        return sum(not end.query() for end in self.ends)


def check_end(trial: Any, seen: Any, caller: Any, pending: int) -> None:
    """Fail if work goes on after the end, or another stream than the caller's is current."""
    __tracebackhide__ = True
    trial.slips.check_stream(caller, ("the end of the run", "运行结束"))
    last = max((span.ended_us for span in seen.observation.spans), default=0.0)
    trial.expect.true(
        not pending and last <= seen.observation.stopped_us,
        ("Work was still queued when the run had ended", "运行已经结束，队列里却还有工作"),
        (
            "The caller may now overwrite its chunks: who waits for the copies that still read them? Think of the "
            "chunk at which it broke, too.",
            "调用者现在就可以改写那些块：还在读它们的拷贝由谁来等？出错的那一块也别忘了。",
        ),
        expected="no work on the device after the end",
        actual=f"{pending} chunks not computed, work for another {last - seen.observation.stopped_us:.0f} us",
    )


@pytest.mark.parametrize("at", [0, 1, 4])
def test_an_exception_of_compute_ends_the_run(trial: Any, rng: Random, watch: Any, at: int) -> None:
    """What compute raises reaches the caller as it is; nothing is still queued, and the caller's stream is current.

    zh: compute 抛出的异常原样到达调用者；此时队列里没有剩余工作，当前流仍是调用者的。
    """
    chunks = fill_chunks(7, MIB // 4, rng)
    caller = torch.cuda.current_stream()
    compute = Breaking(at)
    results: list[Tensor] = []
    with watch() as seen:
        results_of = trial.open(chunks, compute, 3, chunks)
        raised = trial.expect.raises(
            Breakdown,
            lambda: results.extend(result.clone() for result in results_of),
            ("An exception of compute must reach the caller", "compute 的异常应当到达调用者"),
            ("Pass it on as it is.", "原样抛出即可。"),
        )
        pending = compute.count_pending()
    check_end(trial, seen, caller, pending)
    trial.check_races(seen)
    trial.check_values(results, chunks[: len(results)], double)
    trial.evidence.exact("raised", [type(raised).__name__, str(raised)])


def test_an_exception_of_the_source_ends_the_run(trial: Any, rng: Random, watch: Any) -> None:
    """What the source of the chunks raises reaches the caller, too, and nothing is still queued.

    zh: 数据源抛出的异常同样到达调用者，队列里没有剩余工作。
    """
    chunks = fill_chunks(5, MIB // 4, rng)
    caller = torch.cuda.current_stream()
    compute = Breaking()

    def read() -> Iterator[Tensor]:
        yield from chunks
        raise Breakdown("the disk")

    def drain() -> None:
        for _ in trial.open(read(), compute, 3, chunks):
            pass

    with watch() as seen:
        what = ("An exception of the source must reach the caller", "数据源的异常应当到达调用者")
        raised = trial.expect.raises(Breakdown, drain, what)
        pending = compute.count_pending()
    check_end(trial, seen, caller, pending)
    trial.evidence.exact("raised", [type(raised).__name__, str(raised)])


@pytest.mark.parametrize("way", ["close", "drop"])
def test_a_caller_may_stop_half_way(trial: Any, rng: Random, watch: Any, way: str) -> None:
    """A caller that closes or drops the iterator half-way may overwrite its chunks at once.

    zh: 调用者中途关闭或丢弃迭代器之后，可以马上改写它的块。
    """
    chunks = fill_chunks(6, MIB // 4, rng)
    caller = torch.cuda.current_stream()
    compute = Breaking()
    with watch() as seen:
        results_of = trial.solution.run_pipeline(iter(chunks), compute, 3)
        trial.slips.check_iterator(results_of)
        first = next(results_of).clone()
        if way == "close" and hasattr(results_of, "close"):
            results_of.close()
        del results_of
        pending = compute.count_pending()
        for chunk in chunks:
            chunk.fill_(0)
    check_end(trial, seen, caller, pending)
    trial.check_races(seen)
    trial.evidence.exact("first", float(first.sum()))


@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_below_one_is_refused(trial: Any, rng: Random, depth: int) -> None:
    """A depth of less than 1 raises ValueError before a chunk is taken.

    zh: 深度小于 1 时抛出 ValueError，一块也不取。
    """
    chunks = fill_chunks(2, 1024, rng)
    raised = trial.expect.raises(
        ValueError,
        lambda: list(trial.open(chunks, double, depth, chunks)),
        (f"depth={depth} must raise ValueError", f"depth={depth} 应当抛出 ValueError"),
    )
    what = ("A chunk was taken before depth was looked at", "还没有检查 depth 就取了块")
    trial.expect.equal(trial.steps, [], what)
    trial.evidence.exact("raised", type(raised).__name__)
