"""Where the host waits: only if no buffer is free, once, and for the oldest."""

from __future__ import annotations

from typing import Any

import pytest
import torch

ROUNDS, COUNT = 12, 3

LOOK_FREE = (
    "Ask before you wait: event.query() says whether a copy is over. Copies on several streams don't end in the order "
    "of their releases, so the oldest buffer is not the only one to ask.",
    "先问再等：event.query() 会说拷贝是否结束。不同流上的拷贝，结束的次序未必是释放的次序，所以不能只问最旧的缓冲区。",
)
LOOK_OLDEST = (
    "A stream's or the device's synchronize() waits for all that is queued there by now. One copy can be waited for by "
    "an event that was recorded right behind it, in copy(): in release() other work may stand before it.",
    "流或设备的 synchronize() 等的是那里此刻排着的全部工作。只等一次拷贝，要用紧跟在它后面、在 copy() 里记录的事件："
    "到 release() 再记录，前面可能已经排了别的工作。",
)


def test_a_free_buffer_is_lent_without_a_wait(
    depot: Any, watch: Any, expect: Any, busy: Any, side_stream: Any, is_beside: Any
) -> None:
    """The oldest buffer's copy lags behind, and a newer one's is over: that one is lent, and nobody waits.

    zh: 最旧的缓冲区拷贝还没结束，较新的已经结束：借出的就是它，谁也不等。
    """
    depot.open(3)
    values = depot.draw(30)
    depot.stage(values)
    with watch() as seen:  # what is queued before it may be over when it begins
        late, early, third = depot.acquire(), depot.acquire(), depot.acquire()
        for buffer in (late, early):
            depot.fill(buffer, values)
        busy(50)
        depot.copy(late, values)
        still = torch.cuda.current_stream().record_event()
        with torch.cuda.stream(side_stream):
            depot.copy(early, values)
            landed = side_stream.record_event()
        for buffer in (late, early):
            depot.release(buffer)
        while not landed.query():
            pass
        got = depot.acquire()
        is_busy = not still.query()
    expect.waits(seen, what=("A buffer was free, and the host waited", "有空闲的缓冲区，主机却等了"), look=LOOK_FREE)
    expect.true(
        (is_busy and is_same(got, early)) or not is_beside(side_stream),
        ("A newer buffer was free, and acquire() returned another one", "较新的缓冲区空闲，acquire() 返回的却是别的"),
        LOOK_FREE,
        expected="the buffer whose copy is over, while the other copy lags behind",
        actual="another one, or only when the device had caught up",
    )
    depot.release(third)
    depot.settle()


def test_a_buffer_without_copies_is_free_at_once(depot: Any, watch: Any, expect: Any, busy: Any) -> None:
    """A holder changes its mind and releases a buffer that was never copied from; the device is busy.

    zh: 持有者改了主意，释放一个从没拷过的缓冲区；此时设备正忙。
    """
    depot.open(2)
    with watch() as seen:
        busy(5)
        depot.stage(depot.draw(10))
        for _ in range(3):
            depot.release(depot.acquire())
    expect.waits(seen, what=("A buffer was free, and the host waited", "有空闲的缓冲区，主机却等了"), look=LOOK_FREE)
    depot.settle()


def test_copies_and_releases_never_wait(depot: Any, watch: Any, expect: Any, busy: Any) -> None:
    """With the device busy, copy() and release() return at once, and so does acquire() while there is a free buffer.

    zh: 设备正忙时，copy() 和 release() 立即返回；只要有空闲的缓冲区，acquire() 也一样。
    """
    depot.open(4)
    for _ in range(2):
        torch.cuda.synchronize()
        with watch() as seen:
            busy()
            for _ in range(4):
                depot.stage(depot.draw(25))
        expect.waits(seen, what=("The host waited, though a buffer was free", "有空闲的缓冲区，主机却等了"))
    depot.settle(seen)


@pytest.mark.parametrize("later", ["a_kernel_before_the_release", "a_kernel_after_it", "kernels_and_a_copy"])
def test_the_wait_is_for_the_oldest_only(depot: Any, watch: Any, expect: Any, busy: Any, later: str) -> None:
    """With no buffer free, the host waits once, for the copy of the buffer that was released first.

    zh: 没有空闲的缓冲区时，主机只等一次，等最先释放的那个缓冲区的拷贝。
    """
    depot.open(2)
    for _ in range(2):
        depot.stage(depot.draw(10))  # loads what is loaded once
    torch.cuda.synchronize()
    with watch() as seen:
        busy(50)  # longer than a real host needs for all that follows, under the instruments too
        first, second = depot.acquire(), depot.acquire()
        for buffer in (first, second):
            values = depot.draw(10)
            depot.fill(buffer, values)
            depot.copy(buffer, values)
            if buffer is first and later == "a_kernel_before_the_release":
                busy(50)
            depot.release(buffer)
            if buffer is first and later == "a_kernel_after_it":
                busy(50)
            if buffer is first or later == "kernels_and_a_copy":
                still = torch.cuda.current_stream().record_event()
            if later == "kernels_and_a_copy":
                busy(50)
        got = depot.acquire()
        is_busy = not still.query()
    what = ("acquire() waited for more than the oldest buffer's copy", "acquire() 等的不止最旧缓冲区的那次拷贝")
    actual = "later work was over, too"
    expect.true(is_busy, what, LOOK_OLDEST, expected="later work is still running", actual=actual)
    what = ("The buffer that was released first was not the one to be lent", "借出的不是最先释放的那个缓冲区")
    expect.true(is_same(got, first), what, LOOK_OLDEST)
    what = ("No buffer was free, and the host did not wait exactly once", "没有空闲的缓冲区，主机等待的次数却不是一次")
    look = (
        "A loop over query() burns a core that the engine needs elsewhere: event.synchronize() is the wait.",
        "用循环不停 query() 会白白占满一个核，引擎别处正需要它：要等就用 event.synchronize()。",
    )
    expect.equal(len(seen.syncs), 1, what, look if len(seen.syncs) < 1 else LOOK_OLDEST)
    depot.settle()


@pytest.mark.weight(2)
@pytest.mark.budget(syncs=ROUNDS - COUNT)
def test_one_wait_a_round_at_most(depot: Any, watch: Any, expect: Any, measure: Any, busy: Any) -> None:
    """The device lags behind for 12 rounds with 3 buffers: the host waits 9 times.

    zh: 设备一直落后，3 个缓冲区用 12 轮：主机等 9 次。
    """
    depot.open(COUNT)
    with watch() as seen:
        for _ in range(ROUNDS):
            busy()
            depot.stage(depot.draw(64))
    depot.settle(seen)
    look = (
        "The first three rounds find a free buffer; then each waits once, in acquire(), and nowhere else.",
        "前三轮都有空闲的缓冲区；之后每轮只在 acquire() 里等一次，别处都不等。",
    )
    measure("syncs", len(seen.syncs), "", places=seen.places, look=look)
    expect.waits(seen, most=ROUNDS - COUNT, look=look)


def is_same(first: Any, second: Any) -> bool:
    """Return whether two buffers are the same memory; a ring may wrap it anew each time."""
    return bool(first.memory.data_ptr() == second.memory.data_ptr())
