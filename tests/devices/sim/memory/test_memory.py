"""Device memory: PyTorch's allocator over bytes that are really there."""

from __future__ import annotations

import threading

import pytest

from judge.devices.sim.allocator import OutOfMemory, parse_options
from judge.devices.sim.arena import Arena
from judge.devices.sim.memory import DeviceMemory

MIB = 1 << 20
BASE = 0x3100_0000_0000


class Events:
    """Events that are done as soon as ``is_over`` says so."""

    def __init__(self):
        self.is_over = True
        self.waits = 0

    def record(self, stream):
        """Return an event."""
        return stream

    def is_done(self, event):
        """Tell whether it is done."""
        return self.is_over

    def wait(self, event):
        """Wait for it."""
        self.waits += 1


class Watcher:
    """Writes down what it is told."""

    def __init__(self):
        self.told = []

    def begin(self, address, size, stream):
        """Note an owner."""
        self.told.append(("begin", address, size, stream))

    def end(self, address, size, stream):
        """Note the owner's end."""
        self.told.append(("end", address, size, stream))

    def forget(self, address, size):
        """Note a segment that went back."""
        self.told.append(("forget", address, size))


@pytest.fixture
def events():
    """Return events that are done at once."""
    return Events()


@pytest.fixture
def watcher():
    """Return a watcher."""
    return Watcher()


@pytest.fixture
def memory(events, watcher):
    """Return the memory of a device of 256 MiB."""
    memory = DeviceMemory(Arena(BASE, 1 << 40), events, total_bytes=256 * MIB, watcher=watcher)
    yield memory
    memory.close()


def test_a_reused_block_holds_what_its_last_owner_left(memory):
    """Nothing is cleared in between, as on the device."""
    address = memory.allocate(1000)
    memory.arena.view(address, 5)[:] = b"stale"
    memory.free(address)
    assert address == memory.allocate(600)
    assert b"stale" == bytes(memory.arena.view(address, 5))


def test_memory_that_went_back_to_the_driver_is_gone(memory):
    """A new segment at the same address reads as zeros."""
    address = memory.allocate(1000)
    memory.arena.view(address, 5)[:] = b"stale"
    memory.free(address)
    memory.empty_cache()
    assert address == memory.allocate(1000)
    assert bytes(5) == bytes(memory.arena.view(address, 5))


def test_no_bytes_are_no_block(memory, watcher):
    """The address is 0, and nobody is told."""
    assert 0 == memory.allocate(0)
    assert [] == watcher.told


def test_the_watcher_is_told_of_every_change_of_owner(memory, watcher):
    """Sizes are those of blocks; a segment that goes back is forgotten."""
    address = memory.allocate(1000, 7)
    memory.free(address)
    memory.empty_cache()
    assert [
        ("begin", address, 1024, 7),
        ("end", address, 1024, 7),
        ("forget", address, 2 * MIB),
    ] == watcher.told


def test_a_block_is_kept_from_reuse_until_its_users_are_done(memory, events):
    """Its owner's end is told at once all the same."""
    events.is_over = False
    address = memory.allocate(1000)
    memory.record_stream(address, 7)
    memory.free(address)
    assert address != memory.allocate(1000)
    events.is_over = True
    assert address == memory.allocate(1000)


def test_each_block_is_entered_under_the_line_that_asked(memory):
    """The first frame that is the user's: this file's."""
    memory.allocate(1000)
    ((site, size),) = memory.footprint.by_site.items()
    assert (__file__, "test_each_block_is_entered_under_the_line_that_asked") == (site.file, site.function)
    assert 1024 == size


def test_a_meter_sees_the_peak_of_allocated_and_reserved_memory(memory):
    """Resetting the allocator's own peaks changes nothing."""
    memory.allocate(1000)
    meter = memory.start_meter()
    address = memory.allocate(30 * MIB)
    memory.free(address)
    memory.allocator.reset_peak_memory_stats()
    assert (30 * MIB + 1024, 32 * MIB) == (meter.peak_allocated_bytes, meter.peak_reserved_bytes)
    assert [30 * MIB, 1024] == [size for _, size in memory.footprint.read(meter)]


def test_running_out_is_an_error_that_leaves_the_books_right(memory):
    """What fits is still given out afterwards."""
    address = memory.allocate(200 * MIB)
    with pytest.raises(OutOfMemory, match=r"Tried to allocate 100\.00 MiB"):
        memory.allocate(100 * MIB)
    memory.free(address)
    assert 100 * MIB == memory.find(memory.allocate(100 * MIB)).size


def test_without_caching_every_free_goes_to_the_driver(memory):
    """The caching allocator knows nothing of such memory."""
    memory.is_caching = False
    address = memory.allocate(1000)
    assert 0 == memory.allocator.memory_allocated()
    memory.record_stream(address, 7)
    memory.free(address)
    assert 256 * MIB == memory.driver.free_bytes


def test_without_caching_memory_runs_out_too(memory):
    """With the driver's own words."""
    memory.is_caching = False
    with pytest.raises(OutOfMemory, match=r"^CUDA error: out of memory$"):
        memory.allocate(257 * MIB)


def test_a_fraction_is_remembered(memory):
    """``get_per_process_memory_fraction`` asks for it."""
    assert 1.0 == memory.memory_fraction
    memory.set_memory_fraction(0.5)
    assert 0.5 == memory.memory_fraction
    with pytest.raises(OutOfMemory, match=r"128\.00 MiB allowed"):
        memory.allocate(130 * MIB)


def test_ranges_of_expandable_segments_end_as_out_of_memory(events):
    """The arena has addresses for 5 full ranges; shorter ones follow, then PyTorch's own error."""
    settings = parse_options("expandable_segments:True")
    memory = DeviceMemory(Arena(BASE, 8192 * MIB), events, total_bytes=1024 * MIB, settings=settings)
    given = []

    def exhaust():
        for stream in range(1000):
            given.append(memory.allocate(512, stream))

    with pytest.raises(OutOfMemory, match="CUDA out of memory"):
        exhaust()
    memory.close()
    assert 5 < len(given) < 100


def test_threads_allocate_and_free_side_by_side(memory):
    """Nothing is given out twice, and nothing is lost."""
    given = []

    def work(stream):
        for size in range(1, 300):
            address = memory.allocate(size * 64, stream)
            given.append((address, stream))
            memory.free(address)

    threads = [threading.Thread(target=work, args=(stream,)) for stream in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory.lifetimes.settle()
    assert 4 * 299 == len(given)
    assert 0 == memory.allocator.memory_allocated()
    assert 0 == memory.allocator.memory_stats()["active.all.current"]
    assert {} == memory.footprint.by_site
