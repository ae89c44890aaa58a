"""Whole steps: some drawn anew for each run, and four that an H200 ran."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

GOLDEN = json.loads((Path(__file__).parent / "goldens" / "h200_steps.json").read_text(encoding="utf-8"))
REPLAY_NS = 10_000
NAMES = ("norm", "gemm", "add")


def draw_step(clerk: Any, rng: Random) -> list[Any]:
    """Return a step in which short and long kernels, cheap and dear launches and some synchronizes alternate."""
    rows = []
    for _ in range(rng.randrange(1, 40)):
        if rng.random() < 0.15:
            rows.append(clerk.sync(rng.randrange(0, 5_000), rng.choice(NAMES), rng.randrange(3)))
        else:
            device_ns = int(50_000 ** rng.random())
            rows.append(clerk.kernel(rng.choice(NAMES), device_ns, rng.randrange(0, 12_000), rng.randrange(4)))
    return rows


@pytest.mark.weight(3)
def test_drawn_steps_keep_the_rules(clerk: Any, expect: Any, rng: Random) -> None:
    """In steps drawn anew for each run kernels keep their order, and the ledger adds up.

    zh: 每次评测重新随机生成的步里，kernel 保持次序，账目对得上。
    """
    for _ in range(30):
        rows = draw_step(clerk, rng)
        kernels = clerk.schedule(rows)
        makespan, busy, launch_idle, sync_idle = clerk.settle(rows)
        for before, after in pairwise(kernels):
            is_kept = before[3] <= after[2] and before[1] <= after[1] <= after[2]
            expect.true(
                is_kept, ("A kernel overtakes another one", "kernel 超越了前面的 kernel"), actual=f"{before} {after}"
            )
        what = ("The makespan is not the sum of busy and idle times", "总时长不等于忙碌与空闲之和")
        expect.equal(busy + launch_idle + sync_idle, makespan, what)
        clerk.bound(rows)
        clerk.settle(clerk.capture(rows, rng.randrange(1, 12_000)))
        clerk.settle(clerk.fuse(rows, rng.choices(NAMES, k=rng.randrange(1, 4)), "fused", rng.randrange(9_000)))


def build_step(clerk: Any, step: dict[str, Any]) -> list[Any]:
    """Return the rows of a measured step; each launch gets its share of what the host took."""
    kernels = len(step["layer"]) * GOLDEN["layers"]
    host_ns = round(step["host_us"] * 1000 / kernels)
    return [clerk.kernel(name, device_ns, host_ns) for name, device_ns in step["layer"]] * GOLDEN["layers"]


@pytest.mark.parametrize(
    ("tokens", "bound"), [("1", "launch"), ("64", "launch"), ("512", "launch"), ("4096", "device")], ids=str
)
def test_the_model_tells_what_an_h200_did(clerk: Any, expect: Any, tokens: str, bound: str) -> None:
    """A step of so many tokens hangs on what the model says, and takes as long as measured, within 5 %.

    zh: 这么多 token 的一步，限制来自模型所说的一方，时长与实测相差不到 5 %。
    """
    step = GOLDEN["steps"][tokens]
    rows = build_step(clerk, step)
    clerk.bound(rows, bound)
    makespan_us = clerk.settle(rows)[0] / 1000
    what = (f"The model is far from the clock for {tokens} tokens", f"{tokens} 个 token 时，模型与实测相差太多")
    is_near = abs(makespan_us - step["total_us"]) < 0.05 * step["total_us"]
    expect.true(is_near, what, expected=f"{step['total_us']} µs", actual=f"{makespan_us} µs")
    clerk.settle(clerk.capture(rows, REPLAY_NS))
