"""Who owns what: the caller's chunks, the results, and memory that is used again."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from support_chunks import MIB, double, draw_chunk, fill_chunks, sleepy
from torch import Tensor


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "pageable"])
def test_chunks_are_only_read(trial: Any, rng: Random, pinned: bool) -> None:
    """The caller's chunks are as before, also when compute changes its argument in place.

    zh: 调用者的块保持原样，即使 compute 就地修改了它的参数。
    """
    trial.run([draw_chunk(rng, 5, 6, pinned=pinned) for _ in range(4)], lambda x: x.mul_(2))


def test_results_are_the_callers_to_keep(trial: Any, rng: Random) -> None:
    """A result that the caller keeps never changes, however many come after it.

    zh: 调用者留着的结果不会再变，不论之后又有多少个。
    """
    trial.run(fill_chunks(10, 64 << 10, rng), depth=2)


@pytest.mark.parametrize("depth", [1, 3])
def test_a_chunk_is_taken_once_there_is_room(trial: Any, rng: Random, depth: int) -> None:
    """Chunk i + depth is taken only once result i has been handed out.

    zh: 结果 i 交出之后，才取第 i + depth 块。
    """
    trial.run([draw_chunk(rng, 50, pinned=True) for _ in range(8)], depth=depth)
    under_way = 0
    for step, number in trial.steps:
        under_way += {"take": 1, "compute": 0, "result": -1}[step]
        trial.expect.true(
            under_way <= depth,
            (
                f"Chunk {number} was taken before result {number - depth} had been handed out",
                f"结果 {number - depth} 还没有交出，就已取了第 {number} 块",
            ),
            (
                "Which line asks for the next chunk: a for loop that takes it first, and makes room after? "
                "Or are all chunks collected at the start?",
                "是哪一行去取下一块的：for 循环先取、之后才腾出位置？还是一开始就把所有块都收集起来了？",
            ),
            expected=f"at most {depth} under way",
            actual=f"{under_way} under way",
            picture=" ".join(f"{step} {number}" for step, number in trial.steps[:12]) + " …",
        )


def test_a_source_may_refill_its_buffers(trial: Any, rng: Random) -> None:
    """A source with as many pinned buffers as the depth fills them in turn.

    zh: 数据源只有与深度一样多的锁页缓冲区，轮流填充。
    """
    depth = 3
    chunks = fill_chunks(9, MIB // 8, rng, pinned=False)
    buffers = fill_chunks(depth, MIB // 8, rng)

    def refill() -> Iterator[Tensor]:
        for number, chunk in enumerate(chunks):
            yield buffers[number % depth].copy_(chunk)

    trial.run(chunks, double, depth, source=refill())


def test_memory_is_used_again_in_order(trial: Any, rng: Random) -> None:
    """Long kernels and large chunks: no block of memory gets a new owner while a stream still uses it.

    zh: kernel 很长、块很大：只要还有流在用，内存块就不会换主人。
    """
    trial.run(fill_chunks(12, MIB // 4, rng), lambda x: x + 1, depth=4)


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "pageable"])
def test_pinned_memory_is_bounded(trial: Any, rng: Random, pinned_use: Any, pinned: bool) -> None:
    """The pinned memory of a run grows with the depth, not with the number of chunks.

    zh: 一次运行所用的锁页内存随深度增长，不随块数增长。
    """
    depth, count, size_bytes = 2, 40, 64 << 10
    chunks = fill_chunks(count, size_bytes, rng, pinned=pinned)
    sums: list[float] = []
    run = trial.open(chunks, sleepy(double), depth, chunks)
    used = pinned_use(lambda: sums.extend(float(result.sum()) for result in run)).peak_bytes
    most = (4 * depth + 2) * size_bytes
    trial.expect.true(
        used <= most,
        ("Pinned memory grows with the number of chunks", "锁页内存随块数增长"),
        (
            "Staging buffers and results that are over: what still refers to them?",
            "已经用完的中转缓冲区和结果，还有谁在引用它们？",
        ),
        expected=f"at most {most} bytes",
        actual=f"{used} bytes",
    )
    trial.evidence.exact("sums", sums)
