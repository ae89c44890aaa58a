"""What is won: branches overlap in the replay; and what it may cost: the memory of a graph of many layers."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from support_branches import read
from torch import Tensor

SLOW = 500_000
"""Cycles of a kernel of about a quarter of a millisecond, which takes a single multiprocessor."""
ROUNDS = 3
MAX_RATIO = 0.5

LAYERS = 24
TENSOR_BYTES = 256 << 10
MOST_BYTES = 12 << 20
"""What the graph of 24 layers may reserve: a segment of 2 MiB a stream, three of them, one for its input, and some."""


@pytest.mark.weight(2)
@pytest.mark.budget(time_ratio=MAX_RATIO)
def test_branches_overlap_in_the_replay(
    solution: ModuleType,
    rows: Callable[..., Tensor],
    capture: Callable[..., Any],
    watch: Callable[..., Any],
    time_us: Any,
    measure: Any,
    expect: Any,
    evidence: Any,
) -> None:
    """A replay of three equal branches takes at most half as long as the branches one after another.

    zh: 三个同样长的分支，重放所用时间不超过逐个执行的一半。
    """
    branches = [make_slow(factor) for factor in (1, 2, 3)]
    layer = solution.ForkJoin(branches, lambda a, b, c: a + 2 * b + 3 * c)
    captured = capture(lambda x: layer(layer(x)), rows(4))
    took: dict[str, list[float]] = {"replay": [], "serial": []}
    for _ in range(ROUNDS):
        took["replay"].append(time_us(captured.graph.replay))
        took["serial"].append(time_us(lambda: [branch(captured.input) for branch in branches * 2]))
    ratio = min(took["replay"]) / min(took["serial"])
    look = (
        "Kernels of one stream never overlap, in a graph neither. What makes two branches parallel in the graph?",
        "同一个流上的 kernel 从不重叠，在图里也一样。是什么让两个分支在图中并行？",
    )
    measure("time_ratio", ratio, "×", look=look)
    if ratio > MAX_RATIO:
        with watch() as seen:
            captured.graph.replay()
        what = ("the branches don't overlap in the replay", "重放时各分支没有重叠")
        expect.fail(what, f"<= {MAX_RATIO} ×", f"{ratio:.2f} ×", look, seen.draw())
    evidence.exact("output", read(captured.output))


def make_slow(factor: int) -> Callable[[Tensor], Tensor]:
    """Return a branch that takes its time, and hardly any room on the device."""

    def branch(x: Tensor) -> Tensor:
        torch.cuda._sleep(SLOW)
        return x * factor

    return branch


@pytest.mark.weight(2)
@pytest.mark.budget(memory_bytes=MOST_BYTES)
def test_layers_use_the_same_memory_again(
    solution: ModuleType, device: str, capture: Callable[..., Any], measure: Any, evidence: Any, expect: Any
) -> None:
    """The graph of 24 layers reserves hardly more memory than that of a few: each layer uses the memory of the last.

    zh: 24 层的图占用的显存比几层的图多不了多少：每层都重用上一层的显存。
    """
    layer = solution.ForkJoin([lambda x: x + 1, lambda x: x - 1, lambda x: x * 0], lambda a, b, c: a + b + c - a)

    def model(x: Tensor) -> Tensor:
        for _ in range(LAYERS):
            x = layer(x)
        return x

    example = torch.ones(TENSOR_BYTES // 8, dtype=torch.float64, device=device)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved()
    captured = capture(model, example)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    used = torch.cuda.memory_reserved() - before
    measure("memory_bytes", used, "B")
    what = ("the graph reserves memory for each layer anew", "图为每一层都另占了显存")
    look = (
        "What was recorded for another stream is free again only when the capture has ended. Is record_stream needed "
        "where every use is ordered by the graph's own edges?",
        "record_stream 过的内存，要到捕获结束才算空闲。既然图自己的边已经排好了所有先后，还需要它吗？",
    )
    most, shown = (f"{count / (1 << 20):g} MiB" for count in (MOST_BYTES, used))
    expect.true(used <= MOST_BYTES, what, look, expected=f"<= {most}", actual=shown)
    captured.graph.replay()
    evidence.exact("sums", [read(captured.output[:4]), read(captured.output[-4:])])
