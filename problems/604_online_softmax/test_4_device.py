"""What it costs: no wait, and no memory of the size of all scores or of all keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

MOST_BYTES = 1 << 20

LOOK_WAIT = (
    "Whether a row is masked throughout, or a maximum is -inf, is known on the device only: an `if` on it waits. "
    "where() and masked_fill() choose for each element, without asking.",
    "某一行是否全被掩码、最大值是不是 -inf，只有设备知道：用 `if` 去问就要等。"
    "where() 和 masked_fill() 逐个元素选择，不必问。",
)
LOOK_MEMORY = (
    "All scores at once are what a chunk is there to avoid; and to convert all keys to float32 takes twice the memory "
    "of the keys. What is as large as one chunk may come and go.",
    "分块就是为了不同时存下全部分数；把全部键转成 float32，要占键的两倍显存。只有一块大小的东西，可以来了又走。",
)


@pytest.mark.budget(syncs=0)
def test_the_host_never_waits(lab: Any, expect: Any, measure: Any, watch: Any) -> None:
    """attend() with masked rows and chunks, and a merge and a finish: no wait.

    zh: 带着全掩码的行和分块调用 attend()，再合并、收尾：一次也不等。
    """
    mask = lab.mask(2, 5, 23)
    mask[0, :, :9] = False
    mask[1, 2] = False
    task = replace(lab.task(), mask=mask)
    solution, given = lab.solution, (task.queries, task.keys, task.values)
    solution.attend(*given, scale=0.5, chunk=8, mask=mask)
    torch.cuda.synchronize()
    with watch() as seen:
        answer = solution.attend(*given, scale=0.5, chunk=8, mask=mask)
        made = solution.summarise(*given, scale=0.5, mask=mask)
        finished = solution.finish(made, torch.float32)
    measure("syncs", len(seen.syncs), "host waits", places=seen.places, look=LOOK_WAIT)
    lab.check_answer(answer, task, "attend(chunk=8)")
    lab.check_answer(finished, task, "finish()")
    lab.settle()
    expect.waits(seen, look=LOOK_WAIT)


@pytest.mark.weight(2)
@pytest.mark.budget(memory_bytes=MOST_BYTES)
def test_memory_is_that_of_a_chunk(lab: Any, measure: Any, watch: Any) -> None:
    """2,048 keys in chunks of 128: all scores would take 2 MiB, all keys in float32 2 MiB; at most 1 MiB is taken.

    zh: 2048 个键，每块 128 个：全部分数要 2 MiB，全部键转成 float32 也要 2 MiB；最多只能多占 1 MiB。
    """
    task = lab.task(heads=4, queries=64, keys=2048, dim=64, dtype=torch.bfloat16, scale=0.125)
    given = (task.queries, task.keys, task.values)
    lab.solution.attend(task.queries, task.keys[:, :256], task.values[:, :256], scale=0.125, chunk=128)
    torch.cuda.synchronize()
    with watch() as seen:
        answer = lab.solution.attend(*given, scale=0.125, chunk=128)
    measure("memory_bytes", seen.peak_growth_bytes, "B", look=LOOK_MEMORY)
    lab.check_answer(answer, task, "attend(chunk=128)")
    lab.settle(1e-2)


def test_it_works_on_the_current_stream(lab: Any, expect: Any, watch: Any) -> None:
    """Called on a side stream, it works there, behind what makes the queries and before what reads the output.

    zh: 在旁支流上调用，就在那个流上工作：排在产生查询的工作之后，读取输出的工作之前。
    """
    raw = lab.task()
    stream = torch.cuda.Stream(priority=-1)
    stream.wait_stream(torch.cuda.current_stream())
    with watch() as seen, torch.cuda.stream(stream):
        task = replace(raw, queries=raw.queries * 2, keys=raw.keys + 1)
        answer = lab.solution.attend(task.queries, task.keys, task.values, scale=task.scale, chunk=5)
        answer = tuple(tensor.clone() for tensor in answer)
    torch.cuda.current_stream().wait_stream(stream)
    expect.ordered(seen)
    lab.check_answer(answer, task, "attend(chunk=5)")
    lab.settle()
