"""Who holds a buffer, and when the next holder may write to it."""

from __future__ import annotations

from typing import Any

import torch

NOT_HELD = ("A buffer that is not held was accepted", "没有被持有的缓冲区也被接受了")


def test_a_copy_reads_what_its_holder_wrote(depot: Any, watch: Any, busy: Any) -> None:
    """The device lags behind; the ring goes round many times, and each copy brings its own bytes.

    zh: 设备落在后面，环转了许多圈，每次拷贝送到的都是自己的字节。
    """
    depot.open(3)
    with watch() as seen:
        for _ in range(12):
            busy()
            depot.stage(depot.draw(200))
    depot.settle(seen)


def test_the_stream_of_the_copy_counts(depot: Any, watch: Any, busy: Any, side_stream: Any) -> None:
    """Copies run on another stream than the one on which the ring was made, and on which buffers are released.

    zh: 拷贝所在的流，既不是创建环时的流，也不是释放缓冲区时的流。
    """
    depot.open(1)
    with watch() as seen:
        for _ in range(4):
            buffer, values = depot.acquire(), depot.draw(100)
            depot.fill(buffer, values)
            with torch.cuda.stream(side_stream):
                busy()
                depot.copy(buffer, values)
            depot.release(buffer)
    depot.settle(seen)


def test_a_buffer_is_free_when_all_its_copies_are_over(depot: Any, watch: Any, busy: Any, side_stream: Any) -> None:
    """A buffer is copied from on two streams, of which now the one, now the other is late.

    zh: 同一个缓冲区在两个流上都有拷贝，这次一个流晚，下次另一个流晚。
    """
    depot.open(1)
    streams = [torch.cuda.current_stream(), side_stream]
    with watch() as seen:
        for turn in range(4):
            buffer, values = depot.acquire(), depot.draw(50)
            depot.fill(buffer, values)
            for stream in streams:
                with torch.cuda.stream(stream):
                    if stream == streams[turn % 2]:
                        busy()
                    depot.copy(buffer, values)
            depot.release(buffer)
    depot.settle(seen)


def test_a_buffer_that_is_held_is_nobody_elses(depot: Any, watch: Any, busy: Any) -> None:
    """One holder takes its time; the other buffers go round meanwhile, and its bytes are still its own.

    zh: 有一位持有者动作很慢；其余的缓冲区照转，它那块里的字节仍是它自己的。
    """
    depot.open(3)
    with watch() as seen:
        slow, values = depot.acquire(), depot.draw(100)
        depot.fill(slow, values)
        for _ in range(6):
            busy()
            depot.stage(depot.draw(100))
        depot.copy(slow, values)
        depot.release(slow)
        depot.stage(depot.draw(100))
    depot.settle(seen)


def test_with_all_buffers_held_acquire_is_refused(depot: Any, busy: Any, watch: Any, expect: Any) -> None:
    """When every buffer is held no wait brings one back: RingExhausted, at once; after a release it goes on.

    zh: 所有缓冲区都被持有时，等也等不来：立即抛 RingExhausted；释放一个之后又能继续。
    """
    ring = depot.open(2)
    held = [depot.acquire(), depot.acquire()]
    values = depot.draw(20)
    depot.fill(held[0], values)
    busy()
    depot.copy(held[0], values)
    what = ("Every buffer is held, and yet acquire() returned one", "所有缓冲区都被持有，acquire() 却还是返回了一个")
    with watch() as seen:
        for _ in range(2):
            depot.refuse("RingExhausted", ring.acquire, what)
    expect.waits(seen, most=0, what=("A refused acquire() made the host wait", "被拒绝的 acquire() 让主机等待了"))
    depot.release(held[1])
    depot.stage(depot.draw(20))
    depot.settle()


def test_only_a_held_buffer_is_taken(depot: Any, solution: Any) -> None:
    """To copy from a released buffer, to release it again, or to bring one of another ring, is a ValueError.

    zh: 从已释放的缓冲区拷贝、重复释放、拿别的环的缓冲区来，都抛 ValueError。
    """
    ring = depot.open(2)
    stranger = solution.PinnedRing(1, 64).acquire()
    target = torch.zeros(8, dtype=torch.uint8, device="cuda")
    depot.refuse(ValueError, lambda: ring.copy(stranger, target), NOT_HELD)
    depot.refuse(ValueError, lambda: ring.release(stranger), NOT_HELD)
    for _ in range(2):
        buffer, values = depot.acquire(), depot.draw(4)
        depot.fill(buffer, values)
        depot.copy(buffer, values)
        depot.release(buffer)
        depot.refuse(ValueError, lambda buffer=buffer: ring.copy(buffer, target), NOT_HELD)
        depot.refuse(ValueError, lambda buffer=buffer: ring.release(buffer), NOT_HELD)
    buffers = [depot.acquire(), depot.acquire()]  # a release that was refused has not put one in twice
    for buffer in buffers:
        depot.release(buffer)
    depot.settle()
