"""How much memory is pinned: the buffers, from the beginning to the end."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

COUNT, SIZE_BYTES = 2, 1 << 16

LOOK_BOUND = (
    "To pin memory while the engine runs costs milliseconds, and nobody bounds how much it becomes: when no buffer is "
    "free, wait for one; and copy from the buffer itself.",
    "引擎运行中再锁页，一次要几毫秒，而且没有上限：没有空闲的就等一个；拷贝要直接从缓冲区出发。",
)


@pytest.mark.weight(2)
@pytest.mark.budget(memory_bytes=COUNT * SIZE_BYTES)
def test_pinned_memory_is_bounded(depot: Any, expect: Any, measure: Any, pinned_use: Any, busy: Any) -> None:
    """However far the device lags behind, the ring lends the same `count` buffers, and nothing else is pinned.

    zh: 不论设备落后多远，环借出的始终是那 `count` 个缓冲区，此外不锁定任何内存。
    """
    memories: list[Any] = []  # held, so that no other buffer can have the address of one

    def run() -> None:
        depot.open(COUNT, SIZE_BYTES)
        for _ in range(10):
            busy()
            buffer, values = depot.acquire(), depot.draw(SIZE_BYTES // 8)
            depot.fill(buffer, values)
            depot.copy(buffer, values)
            depot.release(buffer)
            memories.append(buffer.memory)

    used = pinned_use(run)
    depot.settle()
    addresses = {memory.data_ptr() for memory in memories}
    what = ("The ring lent other buffers than its own", "环借出了自己之外的缓冲区")
    expect.equal(len(addresses), COUNT, what, LOOK_BOUND)
    measure("memory_bytes", used.peak_bytes, "B", look=LOOK_BOUND)
    expect.true(
        used.peak_bytes <= COUNT * SIZE_BYTES,
        ("More memory is pinned than the buffers", "锁页内存超过了那些缓冲区"),
        LOOK_BOUND,
        expected=f"at most {COUNT * SIZE_BYTES} bytes",
        actual=f"{used.peak_bytes} bytes",
    )


def test_a_dropped_ring_gives_its_memory_back(depot: Any, expect: Any, busy: Any) -> None:
    """A ring is dropped while its copies run: they bring their bytes, and nobody refers to its buffers any more.

    zh: 拷贝还在执行，环就被丢掉：字节照样送到，也没有谁再引用它的缓冲区。
    """
    depot.open(COUNT)
    memories = []
    for _ in range(COUNT):
        busy()
        buffer, values = depot.acquire(), depot.draw(100)
        depot.fill(buffer, values)
        depot.copy(buffer, values)
        memories.append(weakref.ref(buffer.memory))
        depot.release(buffer)
        del buffer
    depot.ring = None
    depot.settle()
    gc.collect()
    left = sum(memory() is not None for memory in memories)
    what = ("Buffers are held after the ring is gone", "环没了，缓冲区还有人拿着")
    look = ("What refers to a buffer: a global, a class attribute?", "谁还引用着缓冲区：全局变量，还是类属性？")
    expect.equal(left, 0, what, look)
