"""What a run costs: device memory, and time against the longest stage."""

from __future__ import annotations

import gc
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from support_chunks import MIB, Arithmetic, double, fill_chunks, sleepy
from support_timeline import explain_slowness

DEPTH = 4
COUNT = 10
SIZE_BYTES = MIB // 4
TRIES = 2
TIME_RATIO = 1.15
LINK_COPIES = 3

TimeUs = Callable[[Callable[[], object]], float]


@pytest.mark.weight(2)
@pytest.mark.budget(memory_bytes=2 * DEPTH * SIZE_BYTES)
def test_device_memory_is_that_of_depth_chunks(trial: Any, rng: Random, watch: Any, measure: Any) -> None:
    """At no time does the device hold more than the chunks and results of `depth` chunks, and nothing at the end.

    zh: 任何时刻，设备上都不超过 `depth` 块的输入与结果；结束后什么也不留。
    """
    chunks = fill_chunks(4 * DEPTH, SIZE_BYTES, rng)
    gc.collect()  # what earlier failures held is no part of the figure
    before = torch.cuda.memory_allocated()
    with watch() as seen:
        sums = [float(result.sum()) for result in trial.open(chunks, sleepy(double), DEPTH, chunks)]
    trial.check_races(seen)
    trial.evidence.exact("sums", sums)
    peak = seen.peak_bytes - before
    measure("memory_bytes", peak, "B")
    trial.expect.true(
        peak <= 2 * DEPTH * SIZE_BYTES,
        ("More than `depth` chunks lay on the device at once", "设备上同时存在的块超过了 `depth`"),
        (
            "A generator that stands at a yield keeps its local names: does one of them still hold the chunk whose "
            "result has just been handed out?",
            "停在 yield 处的生成器会保留它的局部变量：其中是否有一个还拿着刚交出结果的那一块？",
        ),
        expected=f"at most {DEPTH} chunks and {DEPTH} results of 256 KiB: {2 * DEPTH * SIZE_BYTES} bytes",
        actual=f"{peak} bytes",
    )
    left = torch.cuda.memory_allocated() - before
    trial.expect.true(
        left <= 0,
        ("Device memory is still held after the end", "结束之后仍占着设备内存"),
        ("What outlives the run and refers to a device tensor?", "有什么比这次运行活得更久，还引用着设备张量？"),
        expected="0 bytes",
        actual=f"{left} bytes",
    )


@pytest.mark.weight(3)
@pytest.mark.budget(time_ratio=TIME_RATIO)
@pytest.mark.parametrize(
    ("size_bytes", "cycles"),
    [(16 * MIB, 400_000), (8 * MIB, 1_200_000)],
    ids=["copies_are_longest", "compute_is_longest"],
)
def test_the_longest_stage_sets_the_pace(
    trial: Any, rng: Random, watch: Any, measure: Any, time_us: TimeUs, size_bytes: int, cycles: int
) -> None:
    """A run takes at most 1.15 times the longest stage's sum plus filling and draining the pipeline.

    zh: 一次运行的时间不超过“最长一级的总和加上流水线的注满与排空”的 1.15 倍。
    """
    chunks = fill_chunks(COUNT, size_bytes, rng)
    compute = sleepy(double, cycles)
    sums: list[float] = []

    def run(count: int = COUNT) -> None:
        sums.clear()
        for result in trial.open(chunks[:count], compute, DEPTH, chunks):
            sums.append(float(result[::4096].sum()))

    run(DEPTH + 2)  # sets streams and memory up
    ideal_us = find_ideal(time_us, chunks[0], compute, COUNT)
    took_us = time_us(run)
    for _ in range(1, TRIES):  # a real machine is not always quiet
        if took_us > TIME_RATIO * ideal_us:
            took_us = min(took_us, time_us(run))
    measure("time_ratio", took_us / ideal_us, "×")
    trial.evidence.exact("sums", sums)
    if took_us > TIME_RATIO * ideal_us:
        with watch() as seen:
            run()
        trial.fail_slow(
            seen,
            ("The stages don't overlap as they could", "各级没有充分重叠"),
            explain_slowness(seen, COUNT),
            expected=f"at most {TIME_RATIO} × {ideal_us:.0f} us, with {DEPTH} chunks under way",
            actual=f"{took_us:.0f} us, {took_us / ideal_us:.2f} ×",
        )


def find_ideal(time_us: TimeUs, chunk: torch.Tensor, compute: Arithmetic, count: int) -> float:
    """Return the time of ``count`` chunks when only the longest stage counts, and the others once, in microseconds.

    Each stage is taken alone by ``time_us``, and the copies of both directions at once, too: a link may be slower then.
    """
    there, made = torch.empty_like(chunk, device="cuda"), torch.empty_like(chunk, device="cuda")
    back = torch.empty_like(chunk, pin_memory=True)

    def copy_in() -> None:
        there.copy_(chunk, non_blocking=True)

    def copy_out() -> None:
        back.copy_(made, non_blocking=True)

    def copy_both_ways() -> None:
        current, streams = torch.cuda.current_stream(), (torch.cuda.Stream(), torch.cuda.Stream())
        for stream, copy in zip(streams, (copy_in, copy_out), strict=True):
            stream.wait_stream(current)
            with torch.cuda.stream(stream):
                for _ in range(LINK_COPIES):
                    copy()
        for stream in streams:
            current.wait_stream(stream)

    times = [min(time_us(stage) for _ in range(TRIES)) for stage in (copy_in, lambda: compute(there), copy_out)]
    link_us = time_us(copy_both_ways) / LINK_COPIES
    return sum(times) + (count - 1) * max(*times, link_us)
