"""Where a block lies: best fit, splitting, merging, streams, oversize blocks, collection."""

from __future__ import annotations

import pytest

from tests.conformance.allocator.bench import BASE, MIB, Bench

USED, FREE = "active_allocated", "inactive"


def test_no_bytes_need_no_block() -> None:
    """A request of 0 bytes gets the null address and no memory."""
    bench = Bench()
    assert 0 == bench.allocator.malloc(0)
    bench.allocator.free(0)
    assert 0 == bench.reserved()


def test_small_blocks_share_a_segment_of_2_mib() -> None:
    """The rest of a small segment is kept from 512 bytes on."""
    bench = Bench()
    assert [0, 512] == [bench.malloc(1), bench.malloc(1000)]
    assert [[(0, 512, USED), (512, 1024, USED), (1536, 2 * MIB - 1536, FREE)]] == bench.blocks()


def test_a_large_block_is_cut_only_if_more_than_1_mib_remains() -> None:
    """At exactly 1 MiB the rest stays with the block and counts as allocated."""
    bench = Bench()
    bench.malloc(19 * MIB)
    assert [[(0, 20 * MIB, USED)]] == bench.blocks()
    bench.free(0)
    bench.malloc(19 * MIB - 512)
    assert [[(0, 19 * MIB - 512, USED), (19 * MIB - 512, MIB + 512, FREE)]] == bench.blocks()


def test_the_smallest_free_block_that_suffices_is_taken_and_the_lowest_among_equals() -> None:
    """Best fit by size, then by address, whatever was freed last."""
    bench = Bench()
    sizes = (4096, 512, 1024, 512, 1024, 512)
    offsets = [bench.malloc(size) for size in sizes]
    for at in (0, 4, 2):
        bench.free(offsets[at])
    assert [offsets[2], offsets[4], offsets[0]] == [bench.malloc(1024), bench.malloc(1024), bench.malloc(1024)]


def test_a_freed_block_merges_with_both_neighbours() -> None:
    """Freed last, the middle one joins the whole segment again."""
    bench = Bench()
    first, middle, last = (bench.malloc(512) for _ in range(3))
    bench.free(first)
    bench.free(last)
    bench.free(middle)
    assert [[(0, 2 * MIB, FREE)]] == bench.blocks()


def test_segments_side_by_side_never_merge() -> None:
    """Free neighbours in memory stay two blocks if two driver calls made them."""
    bench = Bench()
    first, second = bench.malloc(20 * MIB), bench.malloc(20 * MIB)
    bench.free(first)
    bench.free(second)
    assert [[(0, 20 * MIB, FREE)], [(20 * MIB, 20 * MIB, FREE)]] == bench.blocks()


def test_a_block_is_reused_only_on_its_own_stream() -> None:
    """Another stream gets a segment of its own, also while enough is free."""
    bench = Bench()
    bench.free(bench.malloc(512, stream=1))
    assert [2 * MIB, 0] == [bench.malloc(512, stream=2), bench.malloc(512, stream=1)]


def test_small_and_large_requests_use_different_pools() -> None:
    """A small request never takes from a free large block."""
    bench = Bench()
    bench.free(bench.malloc(2 * MIB))
    assert 20 * MIB == bench.malloc(512)


def test_empty_cache_gives_back_whole_segments_only() -> None:
    """A segment with one used block stays."""
    bench = Bench()
    kept = bench.malloc(512)
    bench.free(bench.malloc(512))
    bench.free(bench.malloc(4 * MIB))
    bench.allocator.empty_cache()
    assert [[(kept, 512, USED), (512, 2 * MIB - 512, FREE)]] == bench.blocks()
    assert 1022 * MIB == bench.driver.free_bytes


def test_freeing_what_is_not_handed_out_is_an_error() -> None:
    """A second free, and an address inside a block, are refused."""
    bench = Bench()
    offset = bench.malloc(1024)
    bench.free(offset)
    for wrong in (offset, offset + 512):
        with pytest.raises(RuntimeError, match=f"invalid device pointer: {BASE + wrong:#x}"):
            bench.free(wrong)


def test_an_oversize_block_is_never_split_nor_used_for_smaller_requests() -> None:
    """With ``max_split_size_mb:32`` a free block of 64 MiB does not serve 20 MiB."""
    bench = Bench("max_split_size_mb:32")
    bench.free(bench.malloc(64 * MIB))
    assert 64 * MIB == bench.malloc(20 * MIB)


@pytest.mark.parametrize(("size_mb", "offset_mb"), [(46, 0), (44, 64)], ids=["within", "beyond"])
def test_an_oversize_request_takes_a_block_that_is_less_than_20_mib_larger(size_mb: int, offset_mb: int) -> None:
    """From 20 MiB of difference on, a new segment is made."""
    bench = Bench("max_split_size_mb:32")
    bench.free(bench.malloc(64 * MIB))
    assert offset_mb * MIB == bench.malloc(size_mb * MIB)


def test_an_oversize_block_goes_back_before_the_whole_cache_does() -> None:
    """One that is large enough is released, and other unused segments stay."""
    bench = Bench("max_split_size_mb:32", total=120 * MIB)
    bench.free(bench.malloc(512))
    bench.free(bench.malloc(40 * MIB))
    bench.free(bench.malloc(70 * MIB))
    bench.malloc(46 * MIB)
    assert [2 * MIB, 40 * MIB, 46 * MIB] == sorted(sum(size for _, size, _ in segment) for segment in bench.blocks())
    assert 0 == bench.stat("num_alloc_retries")


def test_several_oversize_blocks_go_back_where_one_does_not_suffice() -> None:
    """The largest first, until enough is released."""
    bench = Bench("max_split_size_mb:32", total=120 * MIB)
    offsets = [bench.malloc(size * MIB) for size in (34, 36, 38)]
    for offset in offsets:
        bench.free(offset)
    bench.malloc(70 * MIB)
    assert [34 * MIB, 70 * MIB] == sorted(sum(size for _, size, _ in segment) for segment in bench.blocks())


def test_old_unused_segments_are_collected_above_the_threshold() -> None:
    """Before a new segment is made, those that lay unused at least as long as the average go back."""
    bench = Bench("garbage_collection_threshold:0.5", total=200 * MIB)
    bench.allocator.set_memory_fraction(0.5)
    old, young = bench.malloc(30 * MIB), bench.malloc(40 * MIB)
    bench.free(old)
    for _ in range(5):
        bench.free(bench.malloc(512))
    bench.free(young)
    bench.malloc(20 * MIB, stream=1)
    assert [2 * MIB, 20 * MIB, 40 * MIB] == sorted(sum(size for _, size, _ in segment) for segment in bench.blocks())


def test_nothing_is_collected_without_a_memory_fraction() -> None:
    """The threshold is a share of that limit."""
    bench = Bench("garbage_collection_threshold:0.1", total=200 * MIB)
    bench.free(bench.malloc(100 * MIB))
    bench.malloc(30 * MIB, stream=1)
    assert 130 * MIB == bench.reserved()
