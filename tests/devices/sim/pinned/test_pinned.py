"""Pinned memory is kept until asynchronous copies are done, and protected from nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judge.devices.sim.allocator import Settings
from judge.devices.sim.arena import Arena
from judge.devices.sim.pinned import PinnedMemory
from tests.devices.sim.memory.test_memory import Events, Watcher

BASE = 0x3200_0000_0000


@pytest.fixture
def events():
    """Return events that are done at once."""
    return Events()


@pytest.fixture
def watcher():
    """Return a watcher."""
    return Watcher()


@pytest.fixture
def pinned(events, watcher):
    """Return empty pinned memory."""
    pinned = PinnedMemory(Arena(BASE, 1 << 36), events, watcher=watcher)
    yield pinned
    pinned.close()


@pytest.mark.parametrize(
    ("asked", "given"), [(1, 1), (512, 512), (513, 1024), (1 << 20, 1 << 20), ((1 << 20) + 1, 1 << 21)]
)
def test_blocks_are_powers_of_two(pinned, asked, given):
    """The next one that is not below what was asked for."""
    assert given == pinned.find(pinned.allocate(asked)).size


def test_above_the_threshold_sizes_stay_as_they_are(events):
    """``pinned_max_round_threshold_mb``."""
    settings = replace(Settings(), pinned_max_round_bytes=1 << 20)
    pinned = PinnedMemory(Arena(BASE, 1 << 36), events, settings=settings)
    sizes = [pinned.find(pinned.allocate(asked)).size for asked in ((1 << 20) - 1, (1 << 20) + 1)]
    pinned.close()
    assert [1 << 20, (1 << 20) + 1] == sizes


def test_blocks_above_the_cache_limit_go_back_at_once(events):
    """``pinned_max_cached_size_mb``."""
    settings = replace(Settings(), pinned_max_cached_bytes=1 << 20)
    pinned = PinnedMemory(Arena(BASE, 1 << 36), events, settings=settings)
    for size in (1 << 20, 1 << 21):
        pinned.free(pinned.allocate(size))
    figures = pinned.statistics.num_host_free, pinned.statistics.allocated_bytes.current
    pinned.close()
    assert (1, 1 << 20) == figures


def test_a_free_block_is_reused_with_its_old_bytes(pinned):
    """The CPU's own use is never waited for."""
    address = pinned.allocate(1000)
    pinned.arena.view(address, 5)[:] = b"stale"
    pinned.free(address)
    assert address == pinned.allocate(600)
    assert b"stale" == bytes(pinned.arena.view(address, 5))


def test_another_size_gets_another_block(pinned):
    """Blocks are never split."""
    address = pinned.allocate(4096)
    pinned.free(address)
    assert address != pinned.allocate(2048)


def test_the_block_freed_last_is_given_out_first(pinned):
    """Free blocks of one size are a stack."""
    first, second = pinned.allocate(512), pinned.allocate(512)
    pinned.free(first)
    pinned.free(second)
    assert [second, first] == [pinned.allocate(512), pinned.allocate(512)]


def test_a_block_that_a_stream_copies_from_is_not_reused(pinned, events):
    """Until a later request finds the copy done."""
    address = pinned.allocate(512)
    pinned.record_stream(address + 8, 7)
    events.is_over = False
    pinned.free(address)
    assert address != pinned.allocate(512)
    events.is_over = True
    assert address == pinned.allocate(512)


def test_one_unfinished_copy_holds_all_later_ones_back(pinned, events):
    """Events of all streams stand in one queue."""
    done = []
    events.is_done = lambda event: event in done
    first, second = pinned.allocate(512), pinned.allocate(512)
    pinned.record_stream(first, 1)
    pinned.record_stream(second, 2)
    pinned.free(first)
    pinned.free(second)
    done.append(2)
    assert pinned.allocate(512) not in (first, second)
    done.append(1)
    assert second == pinned.allocate(512)


def test_uses_are_forgotten_with_their_owner(pinned, events):
    """The next owner has copied nothing yet."""
    address = pinned.allocate(512)
    pinned.record_stream(address, 7)
    pinned.free(address)
    assert address == pinned.allocate(512)
    events.is_over = False
    pinned.free(address)
    assert address == pinned.allocate(512)


def test_a_block_that_a_graph_copies_from_is_never_reused(events):
    """The graph may be replayed at any time."""
    is_capturing = [True]
    pinned = PinnedMemory(Arena(BASE, 1 << 36), events, is_capturing=lambda: is_capturing[0])
    used, unused = pinned.allocate(512), pinned.allocate(512)
    pinned.record_stream(used, 7)
    pinned.free(used)
    pinned.free(unused)
    is_capturing[0] = False
    later = [pinned.allocate(512), pinned.allocate(512)]
    pinned.close()
    assert unused == later[0]
    assert used != later[1]


def test_no_bytes_are_no_block(pinned):
    """The address is 0, and there is no block there."""
    assert 0 == pinned.allocate(0)
    assert None is pinned.find(0)


def test_an_address_in_no_block_is_ignored(pinned):
    """A copy of pageable memory, say."""
    pinned.record_stream(0x1234, 7)
    address = pinned.allocate(512)
    pinned.free(address)
    assert None is pinned.find(address)


def test_emptying_the_cache_gives_unused_blocks_back(pinned, watcher):
    """Those in use stay."""
    kept, freed = pinned.allocate(512), pinned.allocate(4096)
    pinned.free(freed)
    pinned.empty_cache()
    assert ("forget", freed, 4096) == watcher.told[-1]
    assert {"current": 1, "peak": 2, "allocated": 2, "freed": 1} == pinned.statistics.allocations.as_dict()
    assert 512 == pinned.find(kept).size


def test_statistics_tell_owned_from_used_memory(pinned, events):
    """A block is used until the copies from it are done."""
    address = pinned.allocate(600)
    pinned.record_stream(address, 7)
    events.is_over = False
    pinned.free(address)
    assert 1024 == pinned.statistics.active_bytes.current
    events.is_over = True
    pinned.empty_cache()
    assert (0, 0, 1, 1) == (
        pinned.statistics.active_bytes.current,
        pinned.statistics.allocated_bytes.current,
        pinned.statistics.num_host_alloc,
        pinned.statistics.num_host_free,
    )


def test_the_driver_s_time_is_measured_on_the_host_s_clock(events):
    """In whole microseconds."""
    clock = [0.0]

    def spend(name, size):
        clock[0] += 150.4 if name == "cudaHostAlloc" else 30.0

    pinned = PinnedMemory(Arena(BASE, 1 << 36), events, on_call=spend, read_clock=lambda: clock[0])
    pinned.free(pinned.allocate(512))
    pinned.allocate(4096)
    pinned.empty_cache()
    nested = pinned.statistics.as_nested()
    pinned.statistics.reset_accumulated()
    pinned.close()
    assert {"total": 300, "max": 150, "min": 150, "count": 2, "avg": 150} == nested["host_alloc_time"]
    assert {"total": 30, "max": 30, "min": 30, "count": 1, "avg": 30} == nested["host_free_time"]
    assert 0 == pinned.statistics.as_nested()["host_alloc_time"]["count"]
