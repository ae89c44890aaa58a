"""What a runner holds, and that it gives everything back."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from support_model import draw, read
from torch import Tensor

LARGE_BYTES = 64 << 10
"""Bytes of the tensors here: far more than anything that a runner needs beside them."""
MOST_BYTES = 2 * LARGE_BYTES + (8 << 10)
"""An input, an output, and what a generator may take for its state during a capture."""


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Leave it to the test when Python's collector runs."""
    gc.disable()
    yield
    gc.enable()


def transform(x: Tensor) -> Tensor:
    """Return what takes several intermediate results, and no library's workspace."""
    return torch.relu(x * 2 + 1) * 3 - x


def draw_large(rng: Random, device: str) -> Tensor:
    """Return float32 numbers, 64 KiB of them."""
    return draw(rng, (64,), device).repeat(LARGE_BYTES // 4 // 64)


def hold() -> tuple[int, int]:
    """Return the bytes allocated and reserved once the device is idle and the cache is empty."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return torch.cuda.memory_allocated(), torch.cuda.memory_reserved()


@pytest.mark.weight(2)
@pytest.mark.usefixtures("no_collection")
def test_a_runner_gives_its_memory_back(
    solution: ModuleType, rng: Random, device: str, evidence: Any, expect: Any
) -> None:
    """When the last reference goes, all memory goes back, without Python's collector; results stay.

    zh: 最后一个引用一消失，全部显存就归还，不靠 Python 的垃圾回收；给出的结果仍然有效。
    """
    small = solution.GraphRunner(transform, draw(rng, (64,), device))
    del small
    gc.collect()  # a cycle that it is part of is told below
    example = draw_large(rng, device)
    x = -example
    kept = torch.empty_like(x)
    before = hold()
    runners = [solution.GraphRunner(transform, example) for _ in range(2)]
    for runner in runners:
        kept.copy_(runner(x))
    del runner, runners
    after = hold()
    look = (
        "Who else knows the runner, its graph or its tensors: a list, a cache, a global, a closure over self?",
        "还有谁认得运行器、它的图或它的张量：列表、缓存、全局变量，还是捕获了 self 的闭包？",
    )
    what = ("two runners are gone, and their memory is not", "两个运行器已经消亡，显存却没有归还")
    if after != before:
        gc.collect()
        if hold() == before:
            what = (
                "the memory went back only when Python's collector ran: the runner is part of a cycle",
                "垃圾回收运行之后显存才归还：运行器处在引用循环里",
            )
    more = [f"{(now - then) / 1024:g} KiB" for now, then in zip(after, before, strict=True)]
    shown = f"{more[0]} allocated and {more[1]} reserved more than before"
    expect.true(after == before, what, look, expected="as much as before", actual=shown)
    expect.true(torch.equal(kept, transform(x)), ("a result did not survive its runner", "运行器消亡后，结果变了"))
    evidence.exact("sums", [read(kept[:64]), after == before])


@pytest.mark.parametrize("case", ["plain", "input_requires_grad"])
def test_calls_take_no_more_memory(
    solution: ModuleType, rng: Random, device: str, evidence: Any, expect: Any, case: str
) -> None:
    """After eight calls, as after one, a runner holds what it held before; no input is kept, with gradients or without.

    zh: 调用八次之后占用的显存与调用一次之后相同；输入无论是否要求梯度，都不会被留住。
    """
    gc.collect()  # a runner of another test that is part of a cycle must not go in the midst of this one
    runner = solution.GraphRunner(transform, draw_large(rng, device))
    outputs, held = [], []
    for _ in range(8):
        y = runner(draw_large(rng, device).requires_grad_(case == "input_requires_grad"))
        outputs.append(read(y[:64]))
        del y
        held.append(torch.cuda.memory_allocated())
    what = ("the runner holds more memory after a call", "每次调用之后，运行器占用的显存都在增加")
    look = (
        "Which tensors of a call are kept: inputs, results, a graph for each? Does autograd see the copy?",
        "调用留下了哪些张量：输入、结果，还是每次一个图？autograd 有没有记下那次拷贝？",
    )
    more = f"{(held[-1] - held[0]) / 1024:g} KiB more"
    expect.true(held[-1] <= held[0], what, look, expected="0 KiB more after 7 further calls", actual=more)
    evidence.exact("outputs", outputs)


@pytest.mark.budget(memory_bytes=MOST_BYTES)
def test_a_runner_holds_one_input_and_one_output(
    solution: ModuleType, rng: Random, device: str, evidence: Any, measure: Any, expect: Any
) -> None:
    """Between calls a runner holds its own input and output, and nothing of the caller's, gradients or not.

    zh: 两次调用之间，运行器只占用自己的一份输入和一份输出；调用者的张量无论是否要求梯度，都不占着。
    """
    weight = draw_large(rng, device).requires_grad_()
    before = torch.cuda.memory_allocated()
    example = draw_large(rng, device).requires_grad_()
    runner = solution.GraphRunner(lambda x: torch.relu(x * weight + 1) * weight - x, example)
    first = read(runner(example)[:64])
    del example
    torch.cuda.synchronize()
    held_bytes = torch.cuda.memory_allocated() - before
    measure("memory_bytes", held_bytes, "B")
    what = ("the runner holds more than one input and one output", "运行器占用的显存超过了一份输入加一份输出")
    look = (
        "Which tensors live as long as the runner: the caller's example, a second input, what autograd saves?",
        "哪些张量活得和运行器一样久：调用者的示例输入、第二份输入，还是 autograd 保存的东西？",
    )
    most, held = (f"{count / 1024:g} KiB" for count in (MOST_BYTES, held_bytes))
    expect.true(held_bytes <= MOST_BYTES, what, look, expected=f"<= {most}", actual=held)
    x = draw_large(rng, device)
    evidence.exact("outputs", [first, read(runner(x)[:64])])
