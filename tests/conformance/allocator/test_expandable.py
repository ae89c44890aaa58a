"""Expandable segments: one range of addresses that grows and shrinks by pages."""

from __future__ import annotations

import pytest

from judge.devices.sim.allocator import OutOfMemory, parse_options
from tests.conformance.allocator.bench import MIB, Bench

CONF = "expandable_segments:True"
USED, FREE = "active_allocated", "inactive"


def test_a_segment_grows_by_pages_of_20_mib() -> None:
    """The second block begins where the first one ends, over the page boundary."""
    bench = Bench(CONF)
    assert [0, 15 * MIB] == [bench.malloc(15 * MIB), bench.malloc(15 * MIB)]
    assert [[(0, 15 * MIB, USED), (15 * MIB, 15 * MIB, USED), (30 * MIB, 10 * MIB, FREE)]] == bench.blocks()
    assert [0, 40 * MIB] == [bench.stat("segment.all.current"), bench.reserved()]


def test_small_blocks_and_streams_have_ranges_of_their_own() -> None:
    """Small pages are 2 MiB; each range has addresses for 9/8 of the device."""
    bench = Bench(CONF)
    bench.malloc(512)
    second = bench.malloc(512, stream=1)
    assert 1152 * MIB == second
    assert 4 * MIB == bench.reserved()


def test_any_rest_of_512_bytes_is_kept() -> None:
    """Large blocks are cut as finely as small ones."""
    bench = Bench(CONF)
    bench.malloc(20 * MIB - 512)
    assert [[(0, 20 * MIB - 512, USED), (20 * MIB - 512, 512, FREE)]] == bench.blocks()


def test_whole_pages_inside_free_blocks_go_back() -> None:
    """Pages that a used block touches stay, also between two gaps."""
    bench = Bench(CONF)
    first, second, third = (bench.malloc(30 * MIB) for _ in range(3))
    bench.free(first)
    bench.free(third)
    bench.allocator.empty_cache()
    assert [[(20 * MIB, 10 * MIB, FREE), (second, 30 * MIB, USED)]] == bench.blocks()
    assert 40 * MIB == bench.reserved()


def test_a_gap_is_filled_at_the_lowest_address() -> None:
    """Pages that went back are mapped anew before the range grows at its end."""
    bench = Bench(CONF)
    first, _ = bench.malloc(40 * MIB), bench.malloc(40 * MIB)
    bench.free(first)
    bench.allocator.empty_cache()
    assert 0 == bench.malloc(20 * MIB)
    assert 60 * MIB == bench.reserved()


def test_the_range_goes_when_its_last_page_goes() -> None:
    """Addresses are free for the next range."""
    bench = Bench(CONF)
    bench.free(bench.malloc(512))
    bench.allocator.empty_cache()
    assert [] == bench.blocks()
    assert 0 == bench.malloc(512, stream=1)


def test_unmapping_waits_for_the_stream() -> None:
    """Pages may still be read by work that is queued there."""
    bench = Bench(CONF)
    bench.free(bench.malloc(512, stream=3))
    bench.events.blocked.add(3)
    bench.allocator.empty_cache()
    assert set() == bench.events.pending


def test_memory_that_runs_out_half_way_is_no_loss() -> None:
    """After a failure all that was mapped can be used or given back."""
    bench = Bench(CONF, total=50 * MIB)
    kept = bench.malloc(25 * MIB)
    with pytest.raises(OutOfMemory):
        bench.malloc(30 * MIB)
    bench.free(kept)
    bench.allocator.empty_cache()
    assert [0, 50 * MIB] == [bench.reserved(), bench.driver.free_bytes]


def test_turned_off_later_expandable_blocks_serve_nobody() -> None:
    """New requests get ordinary segments; what lies in the range stays there."""
    bench = Bench(CONF)
    bench.free(bench.malloc(20 * MIB))
    bench.allocator.configure(parse_options("expandable_segments:False", bench.allocator.settings))
    assert bench.malloc(20 * MIB) >= 1152 * MIB
    assert [True, False] == [segment["is_expandable"] for segment in bench.allocator.memory_snapshot()]
