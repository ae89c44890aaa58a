"""Random requests, and what they cost the device."""

from __future__ import annotations

from typing import Any

import pytest
import torch

LOOK_WAIT = (
    "What the host knows needs no asking, and a table entry no upload: fill_() carries a number in its launch. A whole "
    "row goes over from pinned memory, with non_blocking=True.",
    "主机知道的事不必去问；表里的一项也不必上传：fill_() 启动时就带着那个数。"
    "整行则从锁页内存过去，用 non_blocking=True。",
)
LOOK_MEMORY = (
    "Tables and pool exist from the start, and copy_() and fill_() write into them. clone(), torch.tensor() on the "
    "device, an index by a list or a tensor make new tensors.",
    "表和池一开始就有，copy_() 和 fill_() 往里写即可。"
    "clone()、在设备上 torch.tensor()、用列表或张量索引，都会造新张量。",
)
LOOK_RACE = (
    "A copy from pinned memory reads it when the copy runs, not when it is queued. Is the buffer rewritten before? And "
    "is every copy on the stream that is current at the call?",
    "从锁页内存拷贝，读取发生在拷贝执行时，不是排入时。缓冲区是不是在那之前又被改写了？每次拷贝都在调用时的当前流上吗？",
)


def draw_prompt(server: Any, heads: list[list[int]]) -> list[int]:
    """Return a prompt that begins as others do, or as none."""
    head = server.rng.choice(heads)
    return head[: server.rng.randrange(len(head) + 1)] + server.draw(server.rng.randrange(7))


def run_trace(server: Any, calls: int, checks: int) -> None:
    """Run random requests; where there is no room, nothing may change, and the youngest sequence goes."""
    __tracebackhide__ = True
    heads = [server.draw(11) for _ in range(3)]
    waiting: list[list[int]] = []
    for call in range(calls):
        kind = server.rng.choices(["append", "add", "fork", "free"], [8, 3, 1, 2])[0]
        try:
            if kind == "add" or not server.live:
                server.add(waiting.pop() if waiting else draw_prompt(server, heads))
            elif kind == "append":
                seq = server.rng.choice(sorted(server.live))
                server.append(seq) if len(server.live[seq]) < 40 else server.free(seq)
            elif kind == "fork":
                server.fork(server.rng.choice(sorted(server.live)))
            else:
                server.free(server.rng.choice(sorted(server.live)))
        except server.solution.OutOfBlocks:
            waiting.append(server.preempt())
        if checks and call % checks == 0:
            server.check((f"call {call}, {kind}", f"第 {call} 次调用（{kind}）"))


@pytest.mark.weight(3)
@pytest.mark.parametrize("round_", range(3))
def test_random_requests(server: Any, round_: int) -> None:
    """160 random calls on a pool that is always too small: every sequence reads its own tokens, no block is lost.

    zh: 在总是不够用的池上随机调用 160 次：每个序列读到的都是自己的 token，一个块也不丢。
    """
    server.open(blocks=(14, 9, 20)[round_], block_size=(4, 3, 2)[round_], rows=5, width=20)
    run_trace(server, calls=160, checks=5)
    for seq in sorted(server.live):
        server.free(seq)
    server.check(("all freed", "全部释放之后"))
    server.settle()


@pytest.mark.weight(2)
@pytest.mark.budget(syncs=0)
def test_the_host_never_waits(server: Any, expect: Any, measure: Any, watch: Any) -> None:
    """Random calls of all kinds: the host never waits for the device.

    zh: 随机进行各种调用：主机从不等待设备。
    """
    server.open(blocks=12, rows=5, width=20)
    server.add(server.draw(3))
    torch.cuda.synchronize()
    with watch() as seen:
        run_trace(server, calls=80, checks=0)
    measure("syncs", len(seen.syncs), "host waits", places=seen.places, look=LOOK_WAIT)
    server.check(("80 calls", "80 次调用之后"))
    server.settle()
    expect.waits(seen, look=LOOK_WAIT)


@pytest.mark.weight(2)
@pytest.mark.budget(memory_bytes=0)
def test_no_device_memory_is_taken(server: Any, expect: Any, measure: Any, watch: Any) -> None:
    """After the constructor nothing is allocated on the device, in no call.

    zh: 构造之后，任何调用都不再分配设备内存。
    """
    server.open(blocks=12, rows=5, width=20)
    server.add(server.draw(3))
    before = count_allocations()
    with watch() as seen:
        run_trace(server, calls=80, checks=0)
        after = count_allocations()
    measure("memory_bytes", seen.peak_growth_bytes, "B", look=LOOK_MEMORY)
    what = ("Device memory was allocated after the constructor", "构造之后又分配了设备内存")
    expect.equal(after - before, 0, what, LOOK_MEMORY)
    server.check(("80 calls", "80 次调用之后"))
    server.settle()


def test_no_call_launches_much(server: Any, expect: Any, watch: Any) -> None:
    """No call launches more than twice, however long the sequence; and an append into its own block not at all.

    zh: 不论序列多长，一次调用最多启动两次；往自己的块里追加，则一次也不启动。
    """
    manager = server.open(blocks=64, block_size=4, rows=5, width=32)
    long, short = server.add(server.draw(101)), server.add(server.draw(2))
    calls = {
        "add": (2, lambda: manager.add(list(range(50)))),
        "append to its own block": (0, lambda: manager.append(short, 5)),
        "fork": (2, lambda: manager.fork(long)),
        "append to a shared block": (2, lambda: manager.append(long, 5)),
        "free": (2, lambda: manager.free(long)),
        "preempt": (2, manager.preempt),
        "preempt again": (2, manager.preempt),
    }
    look = (
        "A table's row is one copy, an entry one fill_(), the copy of a block one copy_(). What else is launched, and "
        "is something launched for each block?",
        "表的一行是一次拷贝，一项是一次 fill_()，拷一个块是一次 copy_()。还启动了什么？是不是每个块都启动一次？",
    )
    for name, (most, call) in calls.items():
        with watch() as seen:
            call()
        what = (f"{name}: {seen.launches} launches", f"{name}：启动了 {seen.launches} 次")
        expect.true(seen.launches <= most, what, look, seen.draw(), f"≤ {most}", seen.launches)
    server.live = {short: [*server.live[short], 5]}
    server.write(manager.blocks(short)[0], 2, 5, 2)
    server.append(short)
    server.check(("the calls", "这些调用之后"))
    server.settle()


def test_a_queue_of_calls_is_in_order(server: Any, expect: Any, watch: Any) -> None:
    """Calls are queued behind long work on a side stream: what reads the tables between them sees each state in turn.

    zh: 在旁支流上，一连串调用排在很长的工作之后：夹在中间读表的工作，依次看到每一个状态。
    """
    manager = server.open(blocks=12, rows=4)
    stream = torch.cuda.Stream(priority=-1)
    stream.wait_stream(torch.cuda.current_stream())
    seen_tables, wanted = [], []
    with watch() as seen, torch.cuda.stream(stream):
        copies = torch.full((5, *manager.tables.shape), -9, dtype=torch.int32, device=manager.tables.device)
        torch.cuda._sleep(4_000_000)
        for turn in range(5):
            seq = server.add(server.draw(9 + turn))
            copies[turn].copy_(manager.tables)
            wanted.append((manager.row(seq), manager.blocks(seq)))
            child = server.fork(seq)
            server.append(child)
            server.free(seq)
            server.free(child)
        torch.cuda.current_stream().synchronize()
        seen_tables = copies.tolist()
    torch.cuda.current_stream().wait_stream(stream)
    expect.ordered(seen, look=LOOK_RACE)
    shown = [table[row][: len(blocks)] for table, (row, blocks) in zip(seen_tables, wanted, strict=True)]
    what = ("Work that was queued between two calls read another table", "排在两次调用之间的工作读到的表不对")
    expect.equal(shown, [blocks for _, blocks in wanted], what, LOOK_RACE)
    server.settle()


def count_allocations() -> int:
    """Return how often device memory has been allocated in this process."""
    return torch.cuda.memory_stats()["allocation.all.allocated"]
