"""Private pools: routing, holders, and when their memory goes back."""

from __future__ import annotations

import pytest

from judge.devices.sim.allocator import PoolIds
from tests.conformance.allocator.bench import MIB, Bench

GRAPH = (1, 0)
USER = (0, 1)


def pools_of(bench: Bench) -> list[tuple[int, int]]:
    """Return the pool of each segment, by address."""
    return [segment["segment_pool_id"] for segment in bench.allocator.memory_snapshot()]


def test_ids_tell_graphs_from_users() -> None:
    """``(n, 0)`` for a graph, ``(0, n)`` for a handle or a ``MemPool``."""
    ids = PoolIds()
    assert [(1, 0), (2, 0), (0, 1), (0, 2)] == [ids.next_graph(), ids.next_graph(), ids.next_user(), ids.next_user()]


def test_only_requests_that_the_filter_takes_go_to_the_pool() -> None:
    """Work on a stream that is not captured allocates from the default pool."""
    bench = Bench()
    bench.allocator.routing.begin(GRAPH, lambda stream: stream == 7)
    bench.malloc(512, stream=7)
    bench.malloc(512, stream=8)
    assert [GRAPH, (0, 0)] == pools_of(bench)


def test_the_newest_filter_wins() -> None:
    """Of two pools that would take a request, the one opened last gets it."""
    bench = Bench()
    bench.allocator.routing.begin(GRAPH, lambda _: True)
    bench.allocator.routing.begin(USER, lambda _: True)
    bench.malloc(512)
    assert [USER] == pools_of(bench)


def test_free_blocks_of_a_pool_serve_only_that_pool() -> None:
    """Eager requests get a new segment; a second capture into the pool reuses the block."""
    bench = Bench()
    routing = bench.allocator.routing
    routing.begin(GRAPH, lambda _: True)
    bench.free(bench.malloc(512))
    routing.end(GRAPH)
    assert 2 * MIB == bench.malloc(512)
    routing.begin(GRAPH, lambda _: True)
    assert 0 == bench.malloc(512)


def test_a_pool_that_is_held_keeps_its_memory() -> None:
    """Only without holders, and only through a flush, unused segments go back and the pool is gone."""
    bench = Bench()
    routing = bench.allocator.routing
    routing.begin(GRAPH, lambda _: True)
    bench.free(bench.malloc(512))
    routing.end(GRAPH)
    bench.allocator.empty_cache()
    assert 2 * MIB == bench.reserved()
    routing.release(GRAPH)
    assert 2 * MIB == bench.reserved()
    bench.allocator.empty_cache()
    assert 0 == bench.reserved()
    assert {} == routing.private


def test_a_pool_without_holders_stays_while_a_block_is_in_use() -> None:
    """A tensor that outlives its graph keeps its segment."""
    bench = Bench()
    routing = bench.allocator.routing
    routing.begin(GRAPH, lambda _: True)
    offset = bench.malloc(512)
    routing.end(GRAPH)
    routing.release(GRAPH)
    bench.allocator.empty_cache()
    assert [GRAPH] == pools_of(bench)
    bench.free(offset)
    bench.allocator.empty_cache()
    assert [] == pools_of(bench)


def test_emptying_one_pool_leaves_the_others() -> None:
    """With an id, only that pool's segments go back, once nobody holds it."""
    bench = Bench()
    routing = bench.allocator.routing
    bench.free(bench.malloc(512))
    routing.begin(USER, lambda _: True)
    bench.free(bench.malloc(512))
    routing.end(USER)
    routing.release(USER)
    bench.allocator.empty_cache(USER)
    assert [(0, 0)] == pools_of(bench)


def test_holders_are_counted() -> None:
    """Two openings need two releases."""
    bench = Bench()
    routing = bench.allocator.routing
    for _ in range(2):
        routing.begin(GRAPH, lambda _: True)
        routing.end(GRAPH)
    routing.release(GRAPH)
    assert 1 == routing.private[GRAPH].use_count


def test_misuse_of_pools_is_refused_in_pytorchs_words() -> None:
    """Opening twice, closing what is not open, reopening and releasing without holders."""
    routing = Bench().allocator.routing
    routing.begin(GRAPH, lambda _: True)
    with pytest.raises(RuntimeError, match=r"^beginAllocateToPool: already recording to mempool_id$"):
        routing.begin(GRAPH, lambda _: True)
    routing.end(GRAPH)
    with pytest.raises(RuntimeError, match=r"^endAllocatePool: not currently recording to mempool_id$"):
        routing.end(GRAPH)
    routing.release(GRAPH)
    routing.release(GRAPH)
    with pytest.raises(RuntimeError, match="use_count > 0 INTERNAL ASSERT FAILED"):
        routing.begin(GRAPH, lambda _: True)
    with pytest.raises(RuntimeError, match="INTERNAL ASSERT FAILED"):
        routing.release(GRAPH)


def test_a_pool_may_refuse_to_split() -> None:
    """``MemPool(no_split=True)`` hands whole segments out."""
    bench = Bench()
    bench.allocator.routing.hold(USER).never_splits = True
    bench.allocator.routing.begin(USER, lambda _: True)
    bench.malloc(512)
    assert [[(0, 2 * MIB, "active_allocated")]] == bench.blocks()


def test_a_pool_may_lend_its_free_blocks_before_memory_runs_out() -> None:
    """``MemPool(use_on_oom=True)`` serves the default pool when the driver refuses."""
    bench = Bench(total=40 * MIB)
    bench.allocator.routing.hold(USER).may_serve_default = True
    bench.allocator.routing.begin(USER, lambda _: True)
    bench.free(bench.malloc(30 * MIB))
    bench.allocator.routing.end(USER)
    assert 0 == bench.malloc(20 * MIB)


def test_during_capture_the_default_pools_are_not_flushed() -> None:
    """Their events can't be waited for then."""
    bench = Bench(is_capturing=lambda: True)
    bench.free(bench.malloc(512))
    bench.allocator.routing.begin(GRAPH, lambda _: True)
    bench.allocator.empty_cache()
    assert 2 * MIB == bench.reserved()
