"""What stays cached, what empty_cache gives back, and what snapshot shows."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

MIB = 1 << 20


def test_free_gives_nothing_back(play: Callable[..., Any]) -> None:
    """free() never calls the driver: the segment stays reserved.

    zh: free() 从不调用驱动：段仍然保留。
    """
    game = play()
    for block in [game.malloc(size, stream) for size in (512, MIB, 3 * MIB, 40 * MIB) for stream in (0, 1)]:
        game.free(block)
        game.check(("A freed block stays in the cache.", "释放的块留在缓存里。"), driver=[], reserved=124 * MIB)
    game.check(allocated=0)
    game.record()


def test_empty_cache_gives_wholly_free_segments_back(play: Callable[..., Any]) -> None:
    """empty_cache() gives back each segment that is wholly free, in every pool and stream, and keeps the others.

    zh: empty_cache() 归还所有池、所有流中的全空闲段，其余的段保留。
    """
    game = play()
    blocks = [game.malloc(size, stream) for size in (700, 12 * MIB) for stream in (0, 1, 2)]
    half = game.malloc(700, 1)
    for block in blocks:
        game.free(block)
    game.empty_cache()
    freed = [["free", base] for base in (0, 4 * MIB, 6 * MIB, 18 * MIB, 30 * MIB)]
    look = ("Wholly free means: no block of the segment is in use.", "全空闲是指：段内没有任何块在使用。")
    game.check(look, driver=freed, allocated=1024, reserved=2 * MIB)
    game.free(half)
    game.check(allocated=0, reserved=2 * MIB, driver=[])
    game.empty_cache()
    game.check(look, driver=[["free", 2 * MIB]], reserved=0)
    game.empty_cache()
    game.check(("There was nothing left to give back.", "已经没有可归还的段。"), driver=[], reserved=0)
    game.expect.equal(game.snapshot(), [], ("No segment may be left in snapshot()", "snapshot() 中不应再有段"))
    game.record()


def test_a_segment_with_a_free_start_is_kept(play: Callable[..., Any]) -> None:
    """A segment whose first block is free and whose last is in use is partly used: empty_cache() keeps it.

    zh: 第一个块空闲、最后一个块仍在使用的段属于部分使用：empty_cache() 不归还。
    """
    game = play()
    first, last = game.malloc(MIB), game.malloc(MIB)
    game.free(first)
    game.empty_cache()
    game.check(driver=[], allocated=MIB, reserved=2 * MIB)
    game.malloc(MIB)
    game.check(addr=0, driver=[])
    game.free(last)
    game.empty_cache()
    game.check(driver=[], allocated=MIB, reserved=2 * MIB)
    game.record()


def test_what_went_back_is_not_lent_again(play: Callable[..., Any]) -> None:
    """After empty_cache() the next request needs a new segment, also where the driver reuses the address.

    zh: empty_cache() 之后，下一个请求要用新段；驱动可能再次给出同一个地址。
    """
    game = play(bases=[4 * MIB, 4 * MIB, 30 * MIB, 4 * MIB])
    for size, base, segment_bytes in ((512, 4, 2), (3 * MIB, 4, 20), (MIB, 30, 2), (24 * MIB, 4, 24)):
        block = game.malloc(size)
        game.check(driver=[["malloc", segment_bytes * MIB]], addr=base * MIB, reserved=segment_bytes * MIB)
        game.free(block)
        game.empty_cache()
        game.check(driver=[["free", base * MIB]], reserved=0, allocated=0)
    game.record()


def test_snapshot_lists_segments_and_blocks_by_address(play: Callable[..., Any]) -> None:
    """snapshot() lists all segments by address, and in each all blocks by address, free ones too.

    zh: snapshot() 按地址列出所有段，段内按地址列出所有块，包括空闲块。
    """
    game = play(bases=[70 * MIB, 0, 30 * MIB])
    game.expect.equal(
        game.snapshot(), [], ("snapshot() of a new allocator must be empty", "新分配器的 snapshot() 应为空")
    )
    first = game.malloc(600)
    game.malloc(MIB, 2)
    game.malloc(512)
    game.malloc(11 * MIB, 2)
    game.free(first)
    top = 70 * MIB
    shown = [
        (0, 2 * MIB, 2, [(0, MIB, True), (MIB, MIB, False)]),
        (30 * MIB, 12 * MIB, 2, [(30 * MIB, 12 * MIB, True)]),
        (top, 2 * MIB, 0, [(top, 1024, False), (top + 1024, 512, True), (top + 1536, 2 * MIB - 1536, False)]),
    ]
    what = ("snapshot() shows something else than what happened", "snapshot() 与实际情况不符")
    look = ("Segments by base, blocks by address, no gap between them.", "段按起始地址、块按地址排列，块之间没有空隙。")
    game.expect.equal(game.snapshot(), shown, what, look)
    game.record()


def test_snapshot_is_a_copy(play: Callable[..., Any]) -> None:
    """What the caller does to a snapshot does not reach the allocator, and later calls do not reach the snapshot.

    zh: 调用者改动快照不影响分配器，之后的调用也不改变已取得的快照。
    """
    game = play()
    block = game.malloc(512)
    shown = [(0, 2 * MIB, 0, [(0, 512, True), (512, 2 * MIB - 512, False)])]
    earlier = game.snapshot()
    game.free(block)
    what = ("A snapshot changed after it was taken", "快照在取得之后发生了变化")
    game.expect.equal(earlier, shown, what, ("Did it hand out its own lists?", "是否把内部的列表直接交了出去？"))
    earlier[0][3].clear()
    earlier.clear()
    game.malloc(512)
    what = ("A change of the snapshot reached the allocator", "改动快照影响到了分配器")
    look = ("Make new lists in every call.", "每次调用都应新建列表。")
    game.expect.equal(game.snapshot(), shown, what, look)
    game.record()


def test_the_given_parts_are_as_they_were_given(solution: ModuleType, expect: Any, evidence: Any) -> None:
    """Block and Driver behave as in the stub, and the allocator works over that Driver.

    zh: Block 与 Driver 的行为与骨架一致，分配器可以在这个 Driver 上工作。
    """
    what = ("Block or Driver is not as it was given", "Block 或 Driver 与给出的不同")
    look = ("Both stand ready in the stub; leave them as they are.", "两者在骨架中已写好，请保持原样。")
    driver = solution.Driver(8 * MIB)
    bases = [driver.malloc(2 * MIB), driver.malloc(6 * MIB)]
    expect.raises(MemoryError, lambda: driver.malloc(1), what, look)
    driver.free(bases[0])
    bases.append(driver.malloc(MIB))
    for address in (bases[0], 5):
        expect.raises(ValueError, lambda address=address: driver.free(address), what, look)
    expect.equal([*bases, driver.used], [0, 2 * MIB, 8 * MIB, 7 * MIB], what, look)
    block = solution.Block(0, 512)
    expect.raises(AttributeError, lambda: setattr(block, "size", 1024), what, look)
    expect.true(block == solution.Block(0, 512) and block != solution.Block(512, 512), what, look)
    allocator = solution.CachingAllocator(solution.Driver(2 * MIB))
    taken = allocator.malloc(MIB, 1)
    what = ("With the driver full, malloc() must raise MemoryError", "驱动已满时，malloc() 应抛出 MemoryError")
    look = ("The driver's MemoryError goes on to the caller.", "驱动的 MemoryError 要交给调用者。")
    error = expect.raises(MemoryError, lambda: allocator.malloc(1), what, look)
    allocator.free(taken)
    other = allocator.malloc(512, 1)
    look = ("Only a segment that the driver gave counts.", "只有驱动真正给出的段才计入。")
    what = ("memory_reserved() after a refused request is wrong", "请求被拒绝之后 memory_reserved() 不对")
    expect.equal(allocator.memory_reserved(), 2 * MIB, what, look)
    evidence.exact("given", [bases, taken.addr, type(error).__name__, other.addr, allocator.memory_reserved()])
