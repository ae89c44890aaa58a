"""What a loop costs: waits of the host, device memory, pinned memory, and time against the consumer's steps."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from support_batches import MIB, SLEEP_CYCLES, Batch, double, fill_batches
from support_timeline import explain_slowness, explain_waits
from torch import Tensor

COUNT = 10
MOST_BATCHES = 4
BATCH_BYTES = MIB // 4
SUMS_BYTES = 32 << 10
"""What the consumer's own small tensors may take."""
TIME_RATIO = 1.07
TRIES = 3

MEMORY: dict[str, Callable[[Tensor], Tensor]] = {
    "pinned": lambda batch: batch.pin_memory(),
    "pageable": lambda batch: batch,
    "pinned_transposed": lambda batch: batch.view(64, -1).pin_memory().t(),
}


@pytest.mark.weight(2)
@pytest.mark.budget(syncs=COUNT)
@pytest.mark.parametrize("memory", list(MEMORY))
def test_the_host_waits_once_a_batch(consumer: Any, rng: Random, watch: Any, measure: Any, memory: str) -> None:
    """The host waits at most once for each batch, and never inside a copy, wherever the batches lie.

    zh: 每个 batch 主机最多等一次，而且不在拷贝里等，不论 batch 在哪种内存里。
    """
    batches = [MEMORY[memory](batch) for batch in fill_batches(COUNT, MIB // 8, rng, pinned=False)]
    results = []
    with watch() as seen:
        for batch in consumer.open(iter(batches), batches):
            torch.cuda._sleep(SLEEP_CYCLES)
            results.append(double(batch))
            del batch
    look = explain_waits(seen.syncs, COUNT)
    measure("syncs", len(seen.syncs), "", places=seen.places, look=look)
    is_inside = any(sync.kind == "copy_h2d" for sync in seen.syncs)
    what = ("The host waited where it need not", "主机在不必等的地方等了")
    if is_inside:
        what = ("The host waited inside a copy to the device", "主机在拷往设备的拷贝里等了")
    consumer.expect.waits(seen, most=0 if is_inside else COUNT, what=what, look=look)
    consumer.check_races(seen)
    consumer.check_values(results, batches, double)
    consumer.record(results)


@pytest.mark.parametrize("kind", ["pinned", "pageable"])
def test_the_host_runs_ahead(consumer: Any, rng: Random, kind: str) -> None:
    """The first batch is handed out while the consumer's stream is still busy with what came before.

    zh: 消费者的流还在忙先前的工作，第一个 batch 就已经交出。
    """
    batches = fill_batches(2, MIB // 4, rng, pinned=kind == "pinned")
    for _ in range(2):  # the first turn sets streams and memory up
        torch.cuda._sleep(SLEEP_CYCLES * 40)
        busy = torch.cuda.current_stream().record_event()
        received = consumer.open(iter(batches), batches)
        results = [double(next(received))]
        is_busy = not busy.query()
        results.extend(double(batch) for batch in received)
        torch.cuda.synchronize()
    consumer.check_values(results, batches, double)
    consumer.expect.true(
        is_busy,
        ("next() waited until the consumer's stream was through", "next() 一直等到消费者的流做完"),
        (
            "A batch is handed out as soon as its copy is queued: the consumer's stream waits for it, not the host.",
            "拷贝一入队，batch 就可以交出：等它的是消费者的流，不是主机。",
        ),
        expected="busy",
        actual="over",
    )
    consumer.record(results)


@pytest.mark.weight(2)
@pytest.mark.budget(memory_bytes=MOST_BATCHES * BATCH_BYTES)
def test_device_memory_is_bounded(consumer: Any, rng: Random, measure: Any) -> None:
    """However far the host runs ahead, the device holds no more than four batches, those still in use included.

    zh: 不论主机跑在前面多远，设备上最多四个 batch，已丢弃但还在用的也算在内。
    """
    batches = fill_batches(20, BATCH_BYTES, rng)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_stats().get("active_bytes.all.current", 0)
    sums = torch.zeros(20, device="cuda")
    for number, batch in enumerate(consumer.open(iter(batches), batches)):
        torch.cuda._sleep(SLEEP_CYCLES)
        torch.sum(batch[:64], 0, out=sums[number])
        del batch
    used = torch.cuda.memory_stats()["active_bytes.all.peak"] - before - SUMS_BYTES
    look = (
        "Memory that was dropped is free for others once the streams that were recorded on it have passed the drop. If "
        "the copies run ahead of the consumer's steps, that comes late: let the copy stream wait for the consumer's.",
        "记录过别的流的内存，丢弃之后要等那些流走过丢弃的位置才真正空闲。拷贝跑在消费者的步骤前面，就总是等不到："
        "让拷贝流等消费者的流。",
    )
    measure("memory_bytes", max(used, 0), "B", look=look)
    consumer.expect.true(
        used <= MOST_BATCHES * BATCH_BYTES,
        ("Device memory grows with the lead of the host", "主机跑得越远，设备内存就越多"),
        look,
        expected=f"{MOST_BATCHES} batches of 256 KiB: {MOST_BATCHES * BATCH_BYTES} bytes",
        actual=f"{used} bytes",
    )
    consumer.evidence.exact("sums", sums.tolist())


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "pageable"])
def test_pinned_memory_is_bounded(consumer: Any, rng: Random, pinned_use: Any, pinned: bool) -> None:
    """The prefetcher holds no more than four batches of pinned memory, however many there are.

    zh: 不论有多少 batch，预取器占用的锁页内存都不超过四个 batch。
    """
    count, size_bytes = 12, MIB // 8
    batches = fill_batches(count, size_bytes, rng, pinned=pinned)
    sums = torch.zeros(count, device="cuda")

    def consume() -> None:
        for number, batch in enumerate(consumer.open(iter(batches), batches)):
            torch.cuda._sleep(SLEEP_CYCLES)
            torch.sum(batch[:64], 0, out=sums[number])

    used = pinned_use(consume).peak_bytes
    consumer.expect.true(
        used <= MOST_BATCHES * size_bytes,
        ("Pinned memory grows with the number of batches", "锁页内存随 batch 的个数增长"),
        (
            "A staging buffer whose copy has ended can go. How many copies may be queued at once, and who still refers "
            "to the buffers?",
            "拷贝已经结束的中转缓冲区可以放掉。最多会有几次拷贝同时排着？还有谁在引用这些缓冲区？",
        ),
        expected=f"at most {MOST_BATCHES * size_bytes} bytes",
        actual=f"{used} bytes",
    )
    consumer.evidence.exact("sums", sums.tolist())


@pytest.mark.weight(3)
@pytest.mark.budget(time_ratio=TIME_RATIO)
def test_copies_hide_behind_the_steps(consumer: Any, rng: Random, watch: Any, measure: Any, time_us: Any) -> None:
    """At least 90 % of the copies' time lies beside the consumer's steps.

    zh: 拷贝时间的至少 90 % 与消费者的步骤同时进行。
    """
    batches = fill_batches(COUNT, 8 * MIB, rng)
    totals: list[Tensor] = []

    def step(batch: Batch) -> Tensor:
        torch.cuda._sleep(1_000_000)
        return batch[:64].sum()

    def run() -> None:
        totals.clear()
        for batch in consumer.open(iter(batches), batches):
            totals.append(step(batch))
            del batch

    run()  # sets streams and memory up
    target = torch.empty_like(batches[0], device="cuda")
    copy_us = min(time_us(lambda: target.copy_(batches[0], non_blocking=True)) for _ in range(TRIES))
    steps_us = min(time_us(lambda: [step(target) for _ in range(COUNT)]) for _ in range(TRIES))
    ideal_us = copy_us + max(steps_us, COUNT * copy_us)
    took_us = time_us(run)
    for _ in range(1, TRIES):  # a real machine is not always quiet
        if took_us > TIME_RATIO * ideal_us:
            took_us = min(took_us, time_us(run))
    consumer.evidence.exact("totals", [float(total) for total in totals])
    hidden = 1 - (took_us - ideal_us) / ((COUNT - 1) * copy_us)
    if took_us > TIME_RATIO * ideal_us:
        with watch() as seen:
            run()
        look = explain_slowness(seen, COUNT)
        measure("time_ratio", took_us / ideal_us, "×", look=look)
        consumer.expect.fail(
            ("The copies don't run beside the consumer's steps", "拷贝没有与消费者的步骤同时进行"),
            f"≥ 90 %, {TIME_RATIO} × {ideal_us:.0f} us",
            f"{min(max(hidden, 0), 1):.0%}, {took_us / ideal_us:.2f} × {ideal_us:.0f} us",
            look,
            seen.draw(by_piece=True),
        )
    measure("time_ratio", took_us / ideal_us, "×")
