"""Measure operations on a real GPU as the recording did. (torch)"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import prod
from statistics import median
from typing import Any

import torch

REPETITIONS = 20
ROUNDS = 5
AHEAD_CYCLES = 6_000_000
"""About 3 ms of work ahead of what is measured, so that the host has launched it all before it begins."""
COPIES = 30


def measure_op(name: str, shape: str, dtype: str) -> float:
    """Return how long an operation takes on the device, in microseconds: launched back to back, the median round."""
    run = prepare(name, [int(size) for size in shape.split("x")], getattr(torch, dtype.removeprefix("torch.")))
    for _ in range(3):
        run()
    rounds = []
    for _ in range(ROUNDS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        torch.cuda._sleep(AHEAD_CYCLES)
        start.record()
        for _ in range(REPETITIONS):
            run()
        end.record()
        end.synchronize()
        rounds.append(start.elapsed_time(end) * 1000.0 / REPETITIONS)
    return median(rounds)


def prepare(name: str, sizes: list[int], dtype: torch.dtype) -> Callable[[], Any]:
    """Return a call of an operation on tensors that are there already."""
    if name == "mm":
        m, k, n = sizes
        left, right = (torch.randn(*shape, device="cuda").to(dtype) for shape in ((m, k), (k, n)))
        return lambda: left @ right
    x = torch.randn(sizes[0] if len(sizes) == 1 else sizes, device="cuda").to(dtype)
    assert x.numel() == prod(sizes)
    y, z = torch.empty_like(x), torch.ones_like(x)
    calls: dict[str, Callable[[], Any]] = {
        "add": lambda: torch.add(x, z, out=y),
        "argmax": lambda: x.argmax(-1),
        "copy": lambda: y.copy_(x),
        "cumsum": lambda: x.cumsum(-1),
        "exp": lambda: torch.exp(x, out=y),
        "gelu": lambda: torch.nn.functional.gelu(x),
        "layer_norm": lambda: torch.nn.functional.layer_norm(x, x.shape[-1:]),
        "mul_": lambda: x.mul_(1.0),
        "softmax": lambda: torch.softmax(x, -1),
        "sort": lambda: x.sort(-1),
        "sum": lambda: x.sum(),
        "topk50": lambda: x.topk(50),
        "zero_": lambda: y.zero_(),
    }
    return calls[name]


def measure_copy(direction: str, memory: str, size: str) -> float:
    """Return the host's time from a copy's call to the end of the wait for the device, in microseconds."""
    host = torch.zeros(int(size), dtype=torch.uint8, pin_memory=memory == "pinned")
    device = torch.zeros(int(size), dtype=torch.uint8, device="cuda")
    target, source = (device, host) if direction == "h2d" else (host, device)
    taken = []
    for _ in range(COPIES):
        torch.cuda.synchronize()
        began = time.perf_counter()
        target.copy_(source)
        torch.cuda.synchronize()
        taken.append((time.perf_counter() - began) * 1e6)
    return median(taken)
