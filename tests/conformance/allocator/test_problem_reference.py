"""The allocator and the reference of problem 101 are two programs; on what both do, they are equal."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

from judge.devices.sim.allocator import CachingAllocator, DriverOutOfMemory, OutOfMemory
from tests.conformance.allocator.replay import SwitchedEvents

MIB = 1 << 20
CAPACITY = 400 * MIB
SOLUTION = Path(__file__).resolve().parents[3] / "reference" / "101_caching_allocator" / "solution.py"


class RisingDriver:
    """Segments follow one another, as those of the problem's driver do; addresses are never used twice."""

    def __init__(self) -> None:
        self.total_bytes = self.free_bytes = CAPACITY
        self._next = MIB  # not 0, which means that there is no block

    def allocate(self, size: int) -> int:
        """Return the address after the last segment."""
        if size > self.free_bytes:
            raise DriverOutOfMemory
        self.free_bytes -= size
        self._next += size
        return self._next - size

    def release(self, address: int, size: int) -> None:
        """Count memory."""
        self.free_bytes += size

    reserve = allocate
    unreserve = map = unmap = release


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """Return the problem's reference, loaded from its file."""
    spec = importlib.util.spec_from_file_location("reference_of_101", SOLUTION)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("seed", range(8))
def test_random_traces_end_in_the_same_place(seed: int, reference: ModuleType) -> None:
    """Addresses, failures and figures agree after each of 600 calls, and all blocks at the end."""
    rng = random.Random(seed)
    theirs = reference.CachingAllocator(reference.Driver(CAPACITY))
    ours = CachingAllocator(RisingDriver(), SwitchedEvents())
    live = []
    for _ in range(600):
        action = rng.random()
        if action < 0.02:
            theirs.empty_cache()
            ours.empty_cache()
        elif action < 0.55 or not live:
            size, stream = int(2 ** rng.uniform(0, 25)), rng.randrange(3)
            block, address = _try_both(theirs, ours, size, stream)
            assert (None if block is None else block.addr + MIB) == address
            if block is not None:
                live.append(block)
        else:
            block = live.pop(rng.randrange(len(live)))
            theirs.free(block)
            ours.free(block.addr + MIB)
        assert (theirs.memory_allocated(), theirs.memory_reserved()) == (
            ours.memory_allocated(),
            ours.memory_reserved(),
        )
    assert theirs.snapshot() == [
        (
            segment["address"] - MIB,
            segment["total_size"],
            segment["stream"],
            [(block["address"] - MIB, block["size"], block["state"] != "inactive") for block in segment["blocks"]],
        )
        for segment in ours.memory_snapshot()
    ]


def _try_both(theirs, ours: CachingAllocator, size: int, stream: int) -> tuple:
    try:
        block = theirs.malloc(size, stream)
    except MemoryError:
        block = None
    try:
        address = ours.malloc(size, stream)
    except OutOfMemory:
        address = None
    return block, address
