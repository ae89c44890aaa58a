"""What all graphs together take from the device."""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

SIZES = [3, 6, 5]
ROW_BYTES = 768 << 10
MIB = 1 << 20
LARGEST_MIB = 42
"""What the graph for 6 rows and its input reserve alone: the allocator takes 20 MiB at a time."""
MAX_RATIO = 1.1


def transform(x: Tensor) -> Tensor:
    """Return as many rows as x has, after intermediate results of twice their width."""
    wide = torch.cat([x, x], 1) * 3
    return wide[:, : x.shape[1]] - x


def reserve() -> float:
    """Return the MiB reserved once the device is idle and the cache is empty."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return torch.cuda.memory_reserved() / MIB


@pytest.mark.weight(3)
@pytest.mark.budget(memory_bytes=int(LARGEST_MIB * MIB * MAX_RATIO))
def test_three_graphs_take_hardly_more_than_the_largest(
    solution: ModuleType, device: str, evidence: Any, expect: Any, measure: Any
) -> None:
    """Graphs for 3, 5 and 6 rows reserve at most 1.1 times the memory that the one for 6 rows reserves alone.

    zh: 3、5、6 行的图一共占用的显存，不超过单独一个 6 行的图的 1.1 倍。
    """
    gc.collect()
    example = torch.zeros(1, ROW_BYTES // 4, device=device)
    solution.BucketedRunner(transform, example, [1])  # what the first graph of a process sets up for all
    before = reserve()
    runner = solution.BucketedRunner(transform, example, [6])
    alone = reserve() - before
    del runner
    before = reserve()
    runner = solution.BucketedRunner(transform, example, SIZES)
    together = reserve() - before
    what = (
        f"graphs for {SIZES} reserve more than 1.1 times what the largest reserves",
        f"{SIZES} 这几个图占用的显存超过了最大的一个的 1.1 倍",
    )
    look = (
        "A graph's pool lends to no one else, unless they share it. What does the largest free that a smaller one can "
        "use, and does it come in time? How many inputs are there, and on how many streams were tensors allocated? "
        "Each stream takes segments of its own.",
        "图的池不借给别人，除非共用。最大的图释放的显存，小的图用得上吗，来得及吗？输入有几份？张量是在几个流上分配的？"
        "每个流都要另取自己的段。",
    )
    measure("memory_bytes", together * MIB, "B", look=look)
    most, shown = f"<= {alone * MAX_RATIO:.0f} MiB", f"{together:.0f} MiB"
    expect.true(together <= alone * MAX_RATIO, what, look, None, most, shown)
    evidence.exact("values", [float(runner(torch.full_like(example, 2)).sum().item())])


def test_calls_take_no_more_memory(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, expect: Any
) -> None:
    """After a call of each size nothing grows any more: neither what is allocated nor what is reserved.

    zh: 每种大小各调用一次之后，什么都不再增长：已分配的和已预留的都一样。
    """
    service = serve([1, 2, 4, 8])
    held = []
    for _ in range(2):
        for count in (8, 3, 1, 10, 0):
            service.serve(rows(count), f"{count} rows")
        held.append((torch.cuda.memory_allocated(), reserve()))
    what = ("serving takes more and more memory", "服务过程中占用的显存越来越多")
    look = (
        "Which tensors of a call are kept: batches, results, a graph for each new size?",
        "调用留下了哪些张量：批、结果，还是为每个新大小建的图？",
    )
    expect.equal(held[1], held[0], what, look)
    service.record(evidence)
