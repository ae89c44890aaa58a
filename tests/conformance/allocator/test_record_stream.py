"""Blocks that other streams use: their memory waits for events."""

from __future__ import annotations

from tests.conformance.allocator.bench import MIB, Bench

PENDING = "active_pending_free"


def test_a_block_in_use_elsewhere_is_not_reused() -> None:
    """While the other stream is busy, the block stays active and allocated bytes drop at once."""
    bench = Bench()
    offset = bench.malloc(MIB)
    bench.record_stream(offset, 1)
    bench.events.blocked.add(1)
    bench.free(offset)
    assert PENDING == bench.blocks()[0][0][2]
    assert 0 == bench.allocator.memory_allocated()
    assert MIB == bench.stat("active_bytes.all.current")
    assert MIB == bench.malloc(MIB)


def test_a_finished_use_is_noticed_at_the_next_malloc() -> None:
    """Not before: nobody looks in between."""
    bench = Bench()
    offset = bench.malloc(MIB)
    bench.record_stream(offset, 1)
    bench.events.blocked.add(1)
    bench.free(offset)
    bench.events.release()
    assert PENDING == bench.blocks()[0][0][2]
    assert offset == bench.malloc(MIB)


def test_events_are_looked_at_in_the_order_of_their_stream() -> None:
    """Behind one that is not done, a finished one waits too."""
    bench = Bench()
    first, second = bench.malloc(512), bench.malloc(512)
    for offset in (first, second):
        bench.record_stream(offset, 1)
    bench.events.blocked.add(1)
    bench.free(first)
    bench.events.blocked.clear()
    bench.free(second)
    bench.malloc(512)
    assert [PENDING, PENDING] == [state for _, _, state in bench.blocks()[0][:2]]


def test_every_recorded_stream_must_be_done() -> None:
    """A block waits for the slowest of its users."""
    bench = Bench()
    offset = bench.malloc(512)
    bench.record_stream(offset, 1)
    bench.record_stream(offset, 2)
    bench.events.blocked.add(2)
    bench.free(offset)
    assert 512 == bench.malloc(512)
    bench.events.release()
    assert offset == bench.malloc(512)


def test_the_own_stream_needs_no_event() -> None:
    """Recording the allocation stream changes nothing."""
    bench = Bench()
    offset = bench.malloc(512, stream=1)
    bench.record_stream(offset, 1)
    bench.events.blocked.add(1)
    bench.free(offset)
    assert offset == bench.malloc(512, stream=1)


def test_emptying_the_cache_waits_for_all_uses() -> None:
    """The flush synchronises, completes the frees and gives the memory back."""
    bench = Bench()
    offset = bench.malloc(MIB)
    bench.record_stream(offset, 1)
    bench.events.blocked.add(1)
    bench.free(offset)
    bench.allocator.empty_cache()
    assert 0 == bench.reserved()
    assert set() == bench.events.pending
    assert 1 == bench.stat("num_sync_all_streams")


def test_a_free_during_capture_waits_for_its_end_and_forgets_uses_recorded_in_it() -> None:
    """Uses recorded before the capture get an event after it, those recorded in it get none."""
    capturing = [True]
    bench = Bench(is_capturing=lambda: capturing[0])
    before, within = bench.malloc(512), bench.malloc(512)
    bench.record_stream(before, 1)
    bench.allocator.routing.begin((1, 0), lambda stream: stream == 7)
    bench.record_stream(within, 1)
    bench.events.blocked.add(1)
    bench.free(before)
    bench.free(within)
    bench.malloc(512, stream=7)
    assert [PENDING, PENDING] == [state for _, _, state in bench.blocks()[0][:2]]
    capturing[0] = False
    bench.allocator.routing.end((1, 0))
    assert within == bench.malloc(512)
    assert PENDING == bench.blocks()[0][0][2]
