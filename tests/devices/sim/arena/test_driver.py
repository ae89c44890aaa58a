"""The driver gives out the addresses that a real one does."""

from __future__ import annotations

import pytest

from judge.devices.sim.allocator import DriverOutOfMemory
from judge.devices.sim.arena_driver import ArenaDriver
from tests.conformance.allocator.replay import H200_BYTES, Replay, load

MIB = 1 << 20
WHOLE = [("alloc_traces", at) for at in (0, 1, 2, 3, 4, 6, 8, 9)] + [
    (name, at) for name in ("alloc_roundup", "alloc_maxsplit") for at in range(4)
]


class Nowhere:
    """An arena without bytes."""

    base = 0x4000_0000_0000
    end = base + (20 << 40)
    null_address = end - 2 * MIB

    def drop(self, address, size):
        """Give nothing back."""


@pytest.fixture
def driver():
    """Return a driver of a device of 1 GiB."""
    return ArenaDriver(Nowhere(), 1 << 30)


@pytest.mark.parametrize(("name", "at"), WHOLE, ids=[f"{name}-{at}" for name, at in WHOLE])
def test_all_addresses_of_a_recorded_trace_are_reproduced(name, at):
    """From the first address on, each one has the same distance to it as on the H200."""
    recording = load(name)
    replay = Replay(recording.get("conf"), recording.get("cap"))
    replay.allocator._books.driver = ArenaDriver(Nowhere(), H200_BYTES)
    distances = set()
    replay.driver.next_address = None
    for event in recording["traces"][at]["events"]:
        played = replay.play(event)
        if event[0] == "malloc":
            distances.add(event[4] - played[4])
    assert 1 == len(distances)


def test_segments_fill_holes_from_below(driver):
    """A chunk of 32 MiB takes what fits, then the next one lies below."""
    first = driver.allocate(2 * MIB)
    assert first + 2 * MIB == driver.allocate(2 * MIB)
    large = driver.allocate(28 * MIB)
    assert large < first
    assert large + 28 * MIB == driver.allocate(4 * MIB)


def test_an_empty_chunk_goes_back(driver):
    """Its addresses serve the next large request."""
    large = driver.allocate(40 * MIB)
    driver.release(large, 40 * MIB)
    assert large == driver.allocate(64 * MIB)


def test_ranges_of_expandable_segments_take_no_memory(driver):
    """And one that is given back is the next one given out."""
    first, second = driver.reserve(1 << 40), driver.reserve(1 << 40)
    assert first + (1 << 40) == second
    driver.unreserve(first, 1 << 40)
    assert first == driver.reserve(1 << 40)
    assert 1 << 30 == driver.free_bytes


def test_the_device_s_memory_is_counted(driver):
    """Whatever its addresses, no more is given out than there is."""
    address = driver.allocate(1 << 30)
    with pytest.raises(DriverOutOfMemory):
        driver.allocate(2 * MIB)
    with pytest.raises(DriverOutOfMemory):
        driver.map(driver.reserve(1 << 40), 2 * MIB)
    driver.release(address, 1 << 30)
    assert 1 << 30 == driver.free_bytes


def test_ranges_run_out_only_with_the_arena(driver):
    """Chunks and ranges share it, and neither gets into the other's way."""
    large = driver.allocate(512 * MIB)
    driver.reserve(15 << 40)
    with pytest.raises(DriverOutOfMemory):
        driver.reserve(1 << 40)
    driver.release(large, 512 * MIB)
    assert large == driver.allocate(512 * MIB)
