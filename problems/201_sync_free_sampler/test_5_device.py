"""What the sampler makes the device do: no waits, few launches, little memory, and replays."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from statistics import median
from typing import Any, NoReturn

import pytest
import torch
from support_rules import PAD, Row, draw_row
from torch import Tensor

MIXED = (Row(0.0), Row(0.7, top_k=40), Row(1.0, top_p=0.9), Row(1.3, top_k=20, top_p=0.8), Row(0.9, min_p=0.05), Row())
ROWS, VOCABULARY = 32, 2048
ELEMENTS = ROWS * VOCABULARY


LOOK_WAIT = (
    "The line asks for a number, or for a shape that hangs on the data, or copies between host and device "
    "(torch.tensor, .cpu, .to). Which op of fixed shape does it on the device?",
    "这一行要的是一个数字，或一个取决于数据的形状，或者在主机与设备之间拷贝（torch.tensor、.cpu、.to）。"
    "哪个形状固定的运算能在设备上得到同样的结果？",
)


def _rows(rng: Random, count: int) -> list[Row]:
    """Return rows of all kinds; some have ended, and none is like another. Every sixth from 0 on is greedy."""
    kinds = [MIXED[at % len(MIXED)] for at in range(count)]
    return [
        Row(row.temperature, row.top_k, row.top_p, row.min_p, rng.randrange(1 << 60), at % 50, at, at % 7 == 3)
        for at, row in enumerate(kinds)
    ]


@pytest.mark.weight(4)
@pytest.mark.budget(syncs=0)
def test_the_host_never_waits(
    bench: Any, expect: Any, evidence: Any, measure: Any, watch: Any, rng: Random, logits_of: Callable[..., Tensor]
) -> None:
    """Four decode steps queue their work without the host once waiting for the device.

    zh: 四个 decode 步骤只管排队，主机一次也不等设备。
    """
    inputs = [logits_of(12, 300) for _ in range(4)]
    batch = bench.batch(_rows(rng, 12))
    bench.sample(inputs[0], bench.batch(_rows(rng, 12)))
    with watch() as seen:
        tokens = [bench.solution.sample(logits, batch, PAD) for logits in inputs]
    measure("syncs", len(seen.syncs), places=seen.places)
    expect.waits(seen, look=LOOK_WAIT)
    expect.ordered(seen)
    _record(evidence, tokens, batch)


@pytest.mark.budget(syncs=0)
def test_the_mask_is_made_without_a_wait(
    bench: Any, expect: Any, evidence: Any, measure: Any, watch: Any, rng: Random, logits_of: Callable[..., Tensor]
) -> None:
    """allowed_tokens does not wait either, with rows that allow nothing and with no rows at all.

    zh: allowed_tokens 也不等待，包括什么都不允许的行，以及一行都没有的情况。
    """
    logits = logits_of(12, 300)
    logits[5] = -torch.inf
    batch = bench.batch([draw_row(rng, values) for values in logits.tolist()])
    empty = bench.batch([])
    bench.allowed(logits, batch)
    with watch() as seen:
        mask = bench.solution.allowed_tokens(logits, batch)
        bench.solution.allowed_tokens(logits[:0], empty)
    measure("syncs", len(seen.syncs), places=seen.places)
    expect.waits(seen, look=LOOK_WAIT)
    evidence.exact("tokens allowed", mask.sum(dim=1).tolist(), labels=[f"row {at}" for at in range(12)])


@pytest.mark.weight(2)
def test_the_launches_do_not_grow_with_the_rows(
    bench: Any, expect: Any, evidence: Any, watch: Any, rng: Random, logits_of: Callable[..., Tensor]
) -> None:
    """48 rows take hardly more launches than 3: rows are worked on together, not in a loop.

    zh: 48 行所需的启动次数与 3 行相差无几：各行一起处理，而不是循环。
    """
    launches, tokens = [], []
    for count in (3, 48):
        logits, batch = logits_of(count, 100), bench.batch(_rows(rng, count))
        bench.sample(logits, bench.batch(_rows(rng, count)))
        with watch() as seen:
            tokens.append(bench.solution.sample(logits, batch, PAD))
        launches.append(seen.launches)
    expect.true(
        launches[1] <= 1.5 * launches[0],
        (
            f"3 rows take {launches[0]} launches, 48 rows {launches[1]}",
            f"3 行启动 {launches[0]} 次，48 行启动 {launches[1]} 次",
        ),
        look=(
            "A launch takes the host some microseconds, whatever its size. Which loop runs once a row?",
            "一次启动不论大小都要花主机几微秒。哪个循环是每行转一圈？",
        ),
    )
    _record(evidence, tokens, batch)


def test_it_runs_on_the_current_stream(
    bench: Any, expect: Any, evidence: Any, watch: Any, rng: Random, logits_of: Callable[..., Tensor]
) -> None:
    """Called on a side stream, it works there, in order with what made the logits.

    zh: 在旁支流上调用时，就在那个流上工作，与产生 logits 的工作保持先后。
    """
    stream = torch.cuda.Stream()
    raw, batch = logits_of(8, 500), bench.batch(_rows(rng, 8))
    stream.wait_stream(torch.cuda.current_stream())
    with watch() as seen, torch.cuda.stream(stream):
        logits = raw * 2.0
        tokens = bench.solution.sample(logits, batch, PAD)
    torch.cuda.current_stream().wait_stream(stream)
    expect.ordered(seen)
    _record(evidence, [tokens], batch)


@pytest.mark.weight(2)
def test_a_captured_step_can_be_replayed(
    bench: Any, expect: Any, evidence: Any, rng: Random, logits_of: Callable[..., Tensor]
) -> None:
    """One step, captured in a CUDA graph and replayed, draws what eager steps draw: its state moves on by itself.

    zh: 把一步捕获成 CUDA graph 再重放，抽到的与逐步执行的相同：状态会自己前进。
    """
    inputs = [logits_of(12, 150) for _ in range(3)]
    rows = _rows(rng, 12)
    eager = bench.batch(rows)
    wanted = [bench.sample(logits, eager).tolist() for logits in inputs]
    batch, logits = bench.batch(rows), inputs[0].clone()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        bench.solution.sample(logits, bench.batch(rows), PAD)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            tokens = bench.solution.sample(logits, batch, PAD)
    except RuntimeError as refusal:
        _fail_capture(expect, refusal)
    drawn = []
    for values in inputs:
        logits.copy_(values)
        graph.replay()
        drawn.append(tokens.clone())
    look = (
        "A replay runs kernels on the addresses of the capture, and no Python: what Python decided or bound then is "
        "frozen. State must be read from batch, and written back into it.",
        "重放只在捕获时的地址上运行 kernel，不执行 Python：当时由 Python 决定或绑定的一切都冻结了。"
        "状态要从 batch 里读，再写回 batch。",
    )
    for step, (actual, expected) in enumerate(zip(drawn, wanted, strict=True)):
        what = (f"Replay {step} draws other tokens than step {step}", f"第 {step} 次重放与第 {step} 步抽到的不同")
        expect.equal(actual.tolist(), expected, what, look)
    _record(evidence, drawn, batch)


@pytest.mark.budget(memory_bytes=64 * ELEMENTS)
def test_memory_stays_a_few_times_the_logits(
    bench: Any, evidence: Any, measure: Any, watch: Any, rng: Random, logits_of: Callable[..., Tensor]
) -> None:
    """A step needs no more than 64 bytes a logit on top of its input: a sort with its indices, and the noise.

    zh: 一步所需的额外内存不超过每个 logit 64 字节：排序及其下标，再加噪声。
    """
    logits, batch = (
        bench.tensor([[0.0]]).expand(ROWS, VOCABULARY) + logits_of(1, VOCABULARY),
        bench.batch(_rows(rng, ROWS)),
    )
    bench.sample(logits[:1], bench.batch(_rows(rng, 1)))
    with watch() as seen:
        tokens = bench.solution.sample(logits, batch, PAD)
    look = (
        "A sort and its indices, the noise, two or three masks: what else is as large as the logits, or larger?",
        "一次排序及其下标、噪声、两三个掩码：还有什么与 logits 一样大，甚至更大？",
    )
    measure("memory_bytes", seen.peak_growth_bytes, "B", look=look)
    _record(evidence, [tokens], batch)


@pytest.mark.budget(time_ratio=2.5)
def test_a_step_takes_little_more_than_noise_and_a_sort(
    bench: Any, evidence: Any, measure: Any, time_us: Any, rng: Random, logits_of: Callable[..., Tensor]
) -> None:
    """A step takes at most 2.5 times as long as the given noise and one stable sort of the same logits.

    zh: 一步的耗时不超过题目所给噪声加一次稳定排序的 2.5 倍。
    """
    logits = bench.tensor([[0.0]]).expand(ROWS, VOCABULARY) + logits_of(1, VOCABULARY)
    batch = bench.batch(_rows(rng, ROWS))

    def run_yardstick() -> None:
        bench.solution.exponential_noise(batch.seed, batch.position, VOCABULARY)
        logits.sort(dim=1, descending=True, stable=True)

    run_yardstick()
    tokens = bench.sample(logits, bench.batch(_rows(rng, ROWS)))
    ratios = []
    for _turn in range(3):
        yard_us = time_us(run_yardstick)
        ratios.append(time_us(lambda: bench.solution.sample(logits, batch, PAD)) / yard_us)
    look = (
        "How many launches is a step, and is there more than one sort? Each op of a loop over rows counts.",
        "一步有多少次启动？是不是排了不止一次序？逐行循环里的每个运算都要算。",
    )
    measure("time_ratio", median(ratios), "x", look=look)
    _record(evidence, [tokens], batch)


def _record(evidence: Any, tokens: list[Tensor], batch: Any) -> None:
    """Record what rounding can't change: the greedy rows' tokens, and the state of all rows."""
    drawn = [step.tolist()[::6] for step in tokens]
    labels = [f"call {call}, greedy row {6 * at}" for call, row in enumerate(drawn) for at in range(len(row))]
    evidence.exact("greedy tokens", [token for row in drawn for token in row], labels=labels)
    rows = [f"row {at}" for at in range(batch.position.shape[0])]
    evidence.exact("positions", batch.position.tolist(), labels=rows)
    evidence.exact("finished", batch.finished.tolist(), labels=rows)


def _fail_capture(expect: Any, refusal: RuntimeError) -> NoReturn:
    """Fail because the step can't be captured; the refusal's own lines are shown too."""
    __tracebackhide__ = True
    first = refusal.__context__ or refusal  # the end of a broken capture hides what broke it
    reason = str(first).partition("\n")[0]
    what = (f"The step can't be captured in a CUDA graph: {reason}", f"这一步无法捕获成 CUDA graph：{reason}")
    look = (
        "A capture refuses every wait of the host: is a number fetched, a constant uploaded, a tensor asked by `if`?",
        "捕获期间主机不得有任何等待：是不是取了数字、对张量用了 `if`，或者从主机上传了常量？",
    )
    try:
        expect.fail(what, look=look)
    except AssertionError as failure:
        raise failure from first
