"""What one malloc and one free cost: the reference of problem 101, and PyTorch's own allocator from Python.

Run ``python benchmarks/allocator_pair.py``. Without a CUDA device only the reference is measured.
"""

from __future__ import annotations

import gc
import importlib.util
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType

SOLUTION = Path(__file__).parents[1] / "reference" / "101_caching_allocator" / "solution.py"
KIB, MIB = 1 << 10, 1 << 20
SLOTS = 200
ROUNDS = 30
PAIRS = 1_000
EARLIER_US = 4.5
"""A pair of ``torch.cuda.caching_allocator_alloc`` and ``_delete`` on the host of an H200, measured earlier."""


def main() -> None:
    """Measure and print."""
    gc.disable()
    print(f"Python {platform.python_version()}, {platform.machine()}; least of {ROUNDS} rounds")
    measure_reference(load_reference())
    measure_torch()


def load_reference() -> ModuleType:
    """Import the reference solution by its path."""
    spec = importlib.util.spec_from_file_location("reference_101", SOLUTION)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{SOLUTION} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def measure_reference(reference: ModuleType) -> None:
    """Print the pair on an idle allocator, then among 1,000 and 100,000 live blocks."""
    allocator = reference.CachingAllocator(reference.Driver(1 << 50))
    few, many = make_traffic(reference, 1_000), make_traffic(reference, 100_000)
    idle_us, few_us, many_us = time_pairs(lambda: allocator.free(allocator.malloc(4 * KIB)), few, many)
    report("reference, 4 KiB, nothing else allocated", idle_us)
    report("reference, to 8 KiB, among 1,000 live blocks", few_us)
    report("reference, to 8 KiB, among 100,000 live blocks", many_us)
    report("growth from 1,000 to 100,000 live blocks", many_us / few_us, "times")


def report(what: str, figure: float, unit: str = "us a pair") -> None:
    """Print one line."""
    print(f"{what:<64} {figure:8.2f} {unit}")


def make_traffic(reference: ModuleType, live: int) -> Callable[[], None]:
    """Fill an allocator with ``live`` blocks and a tenth as many free ones; return a call that renews one block."""
    draw = Random(live)
    allocator = reference.CachingAllocator(reference.Driver(1 << 50))
    blocks = [allocator.malloc(draw.randrange(1, 8 * KIB)) for _ in range(live + live // 10)]
    for block in blocks[::11]:
        allocator.free(block)
    slots = draw.sample([block for at, block in enumerate(blocks) if at % 11], SLOTS)
    turns = [(draw.randrange(SLOTS), draw.randrange(1, 8 * KIB)) for _ in range(PAIRS)]
    at = 0

    def renew() -> None:
        nonlocal at
        slot, size = turns[at % PAIRS]
        at += 1
        allocator.free(slots[slot])
        slots[slot] = allocator.malloc(size)

    return renew


def measure_torch() -> None:
    """Print PyTorch's pair, and what it would be without a cache."""
    report("torch, measured earlier on an H200's host", EARLIER_US)
    try:
        import torch
    except ImportError:
        print("torch is not installed: not measured here")
        return
    if not torch.cuda.is_available():
        print("no CUDA device: torch not measured here")
        return
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
    alloc, delete = torch.cuda.caching_allocator_alloc, torch.cuda.caching_allocator_delete
    for size, name in ((4 * KIB, "4 KiB"), (64 * MIB, "64 MiB")):

        def renew(size: int = size) -> None:
            delete(alloc(size))

        def renew_without_cache(size: int = size) -> None:
            delete(alloc(size))
            torch.cuda.empty_cache()

        renew()
        report(f"torch, {name}, from the cache", time_pairs(renew)[0])
        report(f"torch, {name}, from the driver each time", time_pairs(renew_without_cache, pairs=20)[0])
    measure_stall()


def measure_stall() -> None:
    """Print how long the host waits in each pair while a kernel of some 30 ms runs."""
    import torch

    alloc, delete = torch.cuda.caching_allocator_alloc, torch.cuda.caching_allocator_delete
    for name, finish in (("from the cache", lambda: None), ("from the driver each time", torch.cuda.empty_cache)):
        delete(alloc(64 * MIB))
        torch.cuda.synchronize()
        torch.cuda._sleep(50_000_000)
        began = time.perf_counter()
        delete(alloc(64 * MIB))
        finish()
        waited_ms = (time.perf_counter() - began) * 1e3
        torch.cuda.synchronize()
        report(f"torch, 64 MiB, behind a long kernel, {name}", waited_ms, "ms of the host's time")


def time_pairs(*calls: Callable[[], object], pairs: int = PAIRS) -> list[float]:
    """Return the least time of each call in µs; the calls take turns, so that all see the same machine."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for at, call in enumerate(calls):
            began = time.perf_counter()
            for _ in range(pairs):
                call()
            best[at] = min(best[at], (time.perf_counter() - began) / pairs * 1e6)
    return best


if __name__ == "__main__":
    main()
